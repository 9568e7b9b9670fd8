// abort ends a program as on Linux, also one whose handler returns.
// program-test: exit 134
// program-test: expect handler ran
// program-test: log program: ended by SIGABRT (6)
#include <signal.h>
#include <unistd.h>

#include "tests/programs/check.h"

int main() {
  signal(SIGABRT, [](int) { CHECK(write(1, "handler ran\n", 12) == 12); });
  std::abort();
}
