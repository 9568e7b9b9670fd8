// BrokerSignals: SIGTERM, SIGINT, SIGHUP and the ends of children, as a descriptor, for as long as this lives.
#pragma once

#include <sys/signalfd.h>

#include <csignal>

#include "machine/descriptor.h"

namespace ingot {

class BrokerSignals {
 public:
  BrokerSignals() {
    sigemptyset(&waited_);
    for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&waited_, signal);
    struct sigaction hang_up = {};
    ::sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaddset(&waited_, SIGHUP);  // as nohup says it
    ::sigprocmask(SIG_BLOCK, &waited_, &before_);
    descriptor_ = Descriptor(::signalfd(-1, &waited_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  BrokerSignals(const BrokerSignals&) = delete;
  BrokerSignals& operator=(const BrokerSignals&) = delete;
  ~BrokerSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  int descriptor() const { return descriptor_.get(); }
  // Whether one of those that have come asks for the end.
  bool take() const {
    bool is_end = false;
    signalfd_siginfo taken;
    while (::read(descriptor_.get(), &taken, sizeof taken) == sizeof taken) {
      is_end = is_end || taken.ssi_signo != static_cast<std::uint32_t>(SIGCHLD);
    }
    return is_end;
  }

 private:
  sigset_t waited_{}, before_{};
  Descriptor descriptor_;
};

}  // namespace ingot
