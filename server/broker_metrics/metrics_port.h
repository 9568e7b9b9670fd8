// MetricsPort: answers GET /metrics beside other work, on a thread that must never wait for anybody. What strangers can
// keep busy is bounded: a request's size, how many of them there are, and how long one may take. Every connection is
// answered once, and closed.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "accelerator/side_work.h"
#include "server/http/listener.h"

namespace ingot {

struct MetricsPortLimits {
  std::size_t head_bytes = 8 << 10;
  std::size_t target_bytes = 1 << 10;
  std::size_t visitors = 16;                        // then the one that came first has to go
  std::chrono::milliseconds visit_time{10'000};     // from the first byte that could come to the last that could go
  std::size_t unread_bytes = std::size_t{1} << 20;  // that are thrown away behind an answer, so that it can be read
};

class MetricsPort final : public SideWork {
 public:
  // `text` is made anew for each who asks.
  MetricsPort(http::Listener listener, std::function<std::string()> text, MetricsPortLimits limits = {});
  ~MetricsPort() override;
  MetricsPort(const MetricsPort&) = delete;
  MetricsPort& operator=(const MetricsPort&) = delete;

  int port() const { return listener_.port(); }

  void add_waits(std::vector<pollfd>& waits) override;
  std::optional<Clock::time_point> next_turn() const override;
  void turn(std::span<const pollfd> waits) override;

 private:
  class Visitor;

  void accept();
  http::Answer answer_to(const http::Request& request, bool is_to_loopback) const;

  http::Listener listener_;
  Descriptor door_;
  std::function<std::string()> text_;
  MetricsPortLimits limits_;
  http::Limits http_limits_;
  std::vector<std::unique_ptr<Visitor>> visitors_;  // in the order in which they came
  Clock::time_point accepts_from_{};
};

}  // namespace ingot
