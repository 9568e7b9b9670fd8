// A session behind handles: it and its samplers are used by one call at a time.
#pragma once

#include <atomic>
#include <memory>

#include "engine/sampler.h"
#include "engine/session.h"
#include "machine/of_this_process.h"

namespace ingot::c {

struct SharedSession {
  explicit SharedSession(std::unique_ptr<Session> opened) : session(std::move(opened)) {}
  OfThisProcess<Session> session;
  std::atomic<bool> is_used = false;
};

struct SharedSampler {
  std::shared_ptr<SharedSession> owner;  // whose table of kernels it reads
  Sampler sampler;
};

// The one call that uses a session, while it lives.
class SessionUser {
 public:
  explicit SessionUser(SharedSession& shared) : shared_(shared), is_first_(!shared.is_used.exchange(true)) {}
  ~SessionUser() {
    if (is_first_) shared_.is_used = false;
  }
  SessionUser(const SessionUser&) = delete;
  SessionUser& operator=(const SessionUser&) = delete;

  Result<void> require_alone() const {
    if (!shared_.session.is_at_home()) {
      return Error::of(ErrorCode::invalid_argument,
                       "expected a session in the process that opened it, found a fork of ",
                       "that: open one after forking");
    }
    if (is_first_) return {};
    return Error::of(ErrorCode::would_block, "expected a session that nobody uses, found another call on it under way");
  }

 private:
  SharedSession& shared_;
  bool is_first_;
};

}  // namespace ingot::c
