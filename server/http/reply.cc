#include "server/http/reply.h"

#include <utility>

namespace ingot::http {
namespace {

class Handle final : public Exchange {
 public:
  explicit Handle(std::shared_ptr<Reply> reply) : reply_(std::move(reply)) {}
  ~Handle() override { reply_->let_go(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  const Request& request() const override { return reply_->request(); }
  void answer(Answer answer) override { reply_->answer(std::move(answer)); }
  void begin_stream(Answer head, std::string_view ping) override { reply_->begin_stream(std::move(head), ping); }
  void write(std::string_view piece) override { reply_->write(piece); }
  void end_stream() override { reply_->end_stream(); }
  void on_pace(std::function<void(Pace)> listener) override { reply_->on_pace(std::move(listener)); }

 private:
  const std::shared_ptr<Reply> reply_;
};

}  // namespace

Reply::Reply(Request request, std::shared_ptr<Mailbox> mailbox)
    : request_(std::move(request)), mailbox_(std::move(mailbox)) {}

std::shared_ptr<Exchange> Reply::exchange_of(std::shared_ptr<Reply> reply) {
  return std::make_shared<Handle>(std::move(reply));
}

void Reply::bring_news(std::unique_lock<std::mutex> lock) {
  if (std::exchange(has_news_, true)) return;
  lock.unlock();
  mailbox_->put(shared_from_this());
}

void Reply::answer(Answer answer) {
  std::function<void(Pace)> listener;  // ends without the lock: it may hold the exchange
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::waiting) return;
  phase_ = Phase::complete;
  listener = std::exchange(listener_, nullptr);
  news_.head = std::move(answer);
  news_.is_ended = true;
  bring_news(std::move(lock));
}

void Reply::begin_stream(Answer head, std::string_view ping) {
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::waiting) return;
  phase_ = Phase::streaming;
  news_.head = std::move(head);
  news_.is_stream = true;
  news_.ping = ping;
  bring_news(std::move(lock));
}

void Reply::write(std::string_view piece) {
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::streaming || is_gone_) return;
  news_.pieces.append(piece);
  bring_news(std::move(lock));
}

void Reply::end_stream() {
  std::function<void(Pace)> listener;
  std::unique_lock lock(mutex_);
  if (phase_ != Phase::streaming) return;
  phase_ = Phase::complete;
  listener = std::exchange(listener_, nullptr);
  news_.is_ended = true;
  bring_news(std::move(lock));
}

void Reply::let_go() {
  std::function<void(Pace)> listener;
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::complete) return;
  phase_ = Phase::complete;
  listener = std::exchange(listener_, nullptr);
  news_.is_let_go = true;
  bring_news(std::move(lock));
}

void Reply::on_pace(std::function<void(Pace)> listener) {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::complete) return;
  listener_.swap(listener);  // the former one ends without the lock
  is_listener_new_ = true;
  bring_news(std::move(lock));
}

ReplyNews Reply::take_news() {
  std::optional<Pace> untold;
  std::unique_lock lock(mutex_);
  has_news_ = false;
  ReplyNews news = std::exchange(news_, {});
  if (std::exchange(is_listener_new_, false)) untold = pace_;
  lock.unlock();
  if (untold && *untold != Pace::drains) tell(*untold);
  return news;
}

void Reply::tell(Pace pace) {
  std::function<void(Pace)> listener;
  {
    const std::scoped_lock lock(mutex_);
    pace_ = pace;
    if (pace == Pace::gone) {
      is_gone_ = true;
      news_.pieces = {};
      listener = std::exchange(listener_, nullptr);
    } else {
      listener = listener_;
    }
    is_listener_new_ = false;
  }
  if (listener) listener(pace);
}

void Reply::forget() {
  std::function<void(Pace)> listener;
  const std::scoped_lock lock(mutex_);
  phase_ = Phase::complete;
  is_gone_ = true;
  listener = std::exchange(listener_, nullptr);
  news_ = {};
}

}  // namespace ingot::http
