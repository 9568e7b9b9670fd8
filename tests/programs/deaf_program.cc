// A program that goes on when it is told to end: a second signal to `ingot boot` switches the machine off, and both are
// told in words.
//
// program-test: exit 1
// program-test: signal SIGTERM after serving
// program-test: signal SIGINT after deaf
// program-test: log told to end: the power button is pressed
// program-test: log power button: pressed
// program-test: log told to end again: the machine is switched off
// program-test: log expected the program to end by the power button, found 2 signals
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/check.h"

int main() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  CHECK(sigprocmask(SIG_BLOCK, &ends, nullptr) == 0);
  std::printf("serving\n");
  std::fflush(stdout);
  int told = 0;
  CHECK(sigwait(&ends, &told) == 0);
  const timespec rest = {2, 0};  // of signals that follow one another within a second the others are none
  CHECK(nanosleep(&rest, nullptr) == 0);
  std::printf("deaf\n");
  std::fflush(stdout);
  while (true) pause();
}
