#include "profile/watchdog.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"

namespace ingot {

Watchdog::Watchdog(std::chrono::duration<double> limit, OnStuck on_stuck)
    : limit_(limit), on_stuck_(std::move(on_stuck)), thread_([this] { look_until_stopped(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

Watchdog::Run::Run(Watchdog& watchdog, const GuardWatch& guards, std::string_view operation, std::string_view variant,
                   std::string_view where)
    : watchdog_(watchdog), guards_(guards), operation_(operation), variant_(variant), where_(where) {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.current_ = this;
}

Watchdog::Run::~Run() {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.current_ = nullptr;
}

// Looks now and then instead of being told of every run: a run takes a microsecond, and waking a thread takes more.
void Watchdog::look_until_stopped() {
  constexpr std::chrono::duration<double> longest(0.1);
  const auto interval = limit_.count() > 0 ? std::min(longest, limit_) : longest;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, interval, [this] { return is_stopping_; })) {
    if (current_ == nullptr || current_->is_reported_) continue;
    const std::string why = why_stuck(*current_);
    if (why.empty()) continue;
    current_->is_reported_ = true;
    on_stuck_({std::string(current_->operation_), std::string(current_->variant_), std::string(current_->where_), why});
  }
}

std::string Watchdog::why_stuck(const Run& run) const {
  if (const std::optional<Trespass> stray = run.guards_.stray(); stray.has_value()) {
    const auto address = reinterpret_cast<std::uintptr_t>(stray->address);
    return std::string(text_of("expected no access outside of its tensors, found a ", name_of(stray->kind),
                               " at address ", address, ", far from all of them")
                           .view());
  }
  if (limit_.count() > 0 && std::chrono::steady_clock::now() - run.begin_ > limit_) {
    char seconds[32];
    std::snprintf(seconds, sizeof(seconds), "%g", limit_.count());
    return "expected an end within " + std::string(seconds) + " s, found it still running";
  }
  return "";
}

}  // namespace ingot
