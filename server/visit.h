// Visit: a request that was let in: who asks, and the way back to him. Each is logged once, when its answer is
// complete.
#pragma once

#include <chrono>
#include <memory>

#include "server/http/exchange.h"
#include "server/protocol/error_form.h"
#include "server/request_log.h"

namespace ingot {

struct Visitor {
  std::int64_t asker = 0;  // whose turn it is (engine/scheduler.h)
  std::uint64_t salt = 0;  // with whom he shares what is computed (engine/prefix_index.h)
};

// As Exchange, its functions may be called from any thread, one at a time, and none of them waits.
class Visit {
 public:
  using Clock = std::chrono::steady_clock;

  // `headers` are sent with every answer. The log must outlive it.
  Visit(std::shared_ptr<http::Exchange> exchange, Visitor visitor, std::vector<http::Header> headers, RequestLog& log,
        protocol::ErrorForm errors = protocol::ErrorForm::openai);

  const http::Request& request() const { return exchange_->request(); }
  const Visitor& visitor() const { return visitor_; }
  Clock::time_point arrival() const { return arrival_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - arrival_).count(); }
  // What the log's line says besides.
  LoggedRequest& logged() { return logged_; }

  void answer(int status, std::string_view content_type, std::string body, std::vector<http::Header> headers = {});
  void answer_json(std::string body) { answer(200, "application/json", std::move(body)); }
  void refuse(const protocol::ApiError& error, std::vector<http::Header> headers = {});

  // A stream of server-sent events.
  void begin_events();
  bool has_begun() const { return has_begun_; }
  void write(std::string_view event) { exchange_->write(event); }
  void end_events();

  void on_pace(std::function<void(http::Pace)> listener) { exchange_->on_pace(std::move(listener)); }
  // Nobody reads the answer any more.
  void abandon();

 private:
  void log(int status);

  std::shared_ptr<http::Exchange> exchange_;
  Visitor visitor_;
  std::vector<http::Header> headers_;
  RequestLog& log_;
  protocol::ErrorForm errors_;
  std::string id_;  // by which whoever asks in Anthropic's form can speak of it
  Clock::time_point arrival_ = Clock::now();
  LoggedRequest logged_;
  bool has_begun_ = false;
};

}  // namespace ingot
