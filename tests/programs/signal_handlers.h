// What programs that test signals share: handlers, and sets of signals.
#pragma once

#include <signal.h>

#include "tests/programs/check.h"

inline volatile sig_atomic_t seen = 0;

inline void count(int) { seen = seen + 1; }

inline void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}

inline void handle_with_information(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = flags | SA_SIGINFO;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}

inline sigset_t set_of(int first, int second = 0) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, first);
  if (second != 0) sigaddset(&set, second);
  return set;
}
