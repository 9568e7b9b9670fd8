// The power button of the machine, pressed by a signal to `ingot boot`: the program is told to end, and does so in its
// own time.
//
// program-test: exit 7
// program-test: signal SIGTERM after serving
// program-test: expect draining
// program-test: log power button: ready
// program-test: log power button: pressed
#include <signal.h>
#include <unistd.h>

#include "tests/programs/check.h"

namespace {
volatile sig_atomic_t heard = 0;
}  // namespace

int main() {
  struct sigaction action{};
  action.sa_sigaction = [](int, siginfo_t* from, void*) { heard = from->si_code == SI_KERNEL ? 1 : 2; };
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGTERM, &action, nullptr) == 0);
  // Held back but while this waits: a press that comes in between two looks would wake nobody any more.
  sigset_t held, before;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  CHECK(sigprocmask(SIG_BLOCK, &held, &before) == 0);
  std::printf("serving\n");
  std::fflush(stdout);
  while (heard == 0) sigsuspend(&before);
  CHECK(heard == 1);
  std::printf("draining\n");
  return 7;
}
