#include "server/http/loop.h"

#include <unistd.h>

// One thread runs all handlers, and gets them through a lock: Asio's fences about each would order nothing, and the
// thread sanitizer does not know them.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace ingot::http {
namespace {

namespace asio = boost::asio;

class AsioWatch final : public Watch {
 public:
  AsioWatch(asio::io_context& context, int descriptor, boost::system::error_code& error)
      : watched_(context), descriptor_(descriptor) {
    if (watched_.assign(descriptor, error)) ::close(descriptor);
  }

  int descriptor() const override { return descriptor_; }

  void wait(Readiness readiness, std::shared_ptr<Watcher> watcher) override {
    const auto kind = readiness == Readiness::readable ? asio::posix::descriptor_base::wait_read
                                                       : asio::posix::descriptor_base::wait_write;
    watched_.async_wait(kind, [readiness, waiting = std::move(watcher)](const boost::system::error_code& error) {
      if (!error) waiting->on_ready(readiness);
    });
  }

 private:
  asio::posix::stream_descriptor watched_;
  int descriptor_;
};

class AsioLoop final : public Loop {
 public:
  Result<std::unique_ptr<Watch>> watch(int descriptor) override {
    boost::system::error_code error;
    auto watch = std::make_unique<AsioWatch>(context_, descriptor, error);
    if (error) return Error::of(ErrorCode::input_output, "could not watch a descriptor: ", error.message().c_str());
    return std::unique_ptr<Watch>(std::move(watch));
  }

  void run() override { context_.run(); }
  void stop() override { context_.stop(); }
  void post(std::function<void()> task) override { asio::post(context_, std::move(task)); }
  void post_after(std::chrono::milliseconds delay, std::function<void()> task) override {
    // A timer is no thing for several threads, so it is made on the loop's.
    const auto when = std::chrono::steady_clock::now() + delay;
    asio::post(context_, [this, when, later = std::move(task)]() mutable {
      auto timer = std::make_shared<asio::steady_timer>(context_, when);
      asio::steady_timer& clock = *timer;
      clock.async_wait([timer = std::move(timer), later = std::move(later)](const boost::system::error_code& error) {
        if (!error) later();
      });
    });
  }

 private:
  asio::io_context context_{1};  // one thread runs it
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(context_);
};

}  // namespace

Result<std::unique_ptr<Loop>> Loop::create() {
  try {
    return std::unique_ptr<Loop>(std::make_unique<AsioLoop>());
  } catch (const std::exception& exception) {
    return Error::of(ErrorCode::input_output, "could not make a loop for connections: ", exception.what());
  }
}

}  // namespace ingot::http
