// Ctrl-C: a handler hears of it, first while a call waits, then while the program computes; then it ends the program.
// program-test: exit 130
// program-test: type \x03 after waiting
// program-test: type \x03 after computing
// program-test: type \x03 after ending
// program-test: expect heard in ppoll: EINTR
// program-test: expect heard while computing
// program-test: log program: ended by SIGINT (2)
// program-test: never not reached
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "tests/programs/check.h"

namespace {
volatile sig_atomic_t heard = 0;
void say(const char* text) { CHECK(write(1, text, std::strlen(text)) > 0); }
}  // namespace

int main() {
  struct sigaction action{};
  action.sa_handler = [](int) { heard = heard + 1; };
  CHECK(sigaction(SIGINT, &action, nullptr) == 0);
  // Kept away until the call waits.
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  CHECK(sigprocmask(SIG_BLOCK, &blocked, &before) == 0);
  say("waiting\n");
  pollfd entry{0, POLLIN, 0};
  CHECK(ppoll(&entry, 1, nullptr, &before) == -1 && errno == EINTR && heard == 1);
  CHECK(sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
  say("heard in ppoll: EINTR\ncomputing\n");
  while (heard == 1) {
  }
  say("heard while computing\n");
  signal(SIGINT, SIG_DFL);
  say("ending\n");
  for (;;) pause();
  say("not reached\n");
}
