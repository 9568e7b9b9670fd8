// For tests: an exchange without a connection behind it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "server/http/exchange.h"

namespace ingot {

class TestExchange : public http::Exchange {
 public:
  explicit TestExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  void answer(http::Answer answer) override {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
    answer_ = std::move(answer);
  }
  void begin_stream(http::Answer, std::string_view) override {}
  void write(std::string_view) override {}
  void end_stream() override {}
  void on_pace(std::function<void(http::Pace)> listener) override {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
  }

  // As the loop tells it when the client has left.
  void leave() {
    std::function<void(http::Pace)> listener;
    {
      const std::lock_guard lock(mutex_);
      listener = std::exchange(listener_, nullptr);
    }
    if (listener) listener(http::Pace::gone);
  }
  // Status 0: not answered.
  http::Answer answered() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  std::string header(std::string_view name) const {
    for (const http::Header& header : answered().headers) {
      if (header.name == name) return header.value;
    }
    return "";
  }

 private:
  const http::Request request_;
  mutable std::mutex mutex_;
  std::function<void(http::Pace)> listener_;
  http::Answer answer_{.status = 0};
};

inline std::shared_ptr<TestExchange> exchange_of(std::string method, std::string path,
                                                 std::vector<http::Header> headers = {}, std::string body = "") {
  http::Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.headers = std::move(headers);
  request.body = std::move(body);
  return std::make_shared<TestExchange>(std::move(request));
}

}  // namespace ingot
