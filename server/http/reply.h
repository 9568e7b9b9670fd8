// Reply: an answer under way. Any thread puts parts of it in, the loop takes them out.
#pragma once

#include <mutex>
#include <optional>

#include "server/http/exchange.h"
#include "server/http/mailbox.h"

namespace ingot::http {

class Connection;

// What came since the loop looked.
struct ReplyNews {
  std::optional<Answer> head;  // of a stream, or the whole answer
  bool is_stream = false;
  std::string ping;
  std::string pieces;
  bool is_ended = false;
  bool is_let_go = false;  // by its holder, before its end
};

class Reply : public std::enable_shared_from_this<Reply> {
 public:
  Reply(Request request, std::shared_ptr<Mailbox> mailbox);

  // What the handler gets. The reply is let go of with it.
  static std::shared_ptr<Exchange> exchange_of(std::shared_ptr<Reply> reply);

  // --- from any thread ---
  const Request& request() const { return request_; }
  void answer(Answer answer);
  void begin_stream(Answer head, std::string_view ping);
  void write(std::string_view piece);
  void end_stream();
  void let_go();
  void on_pace(std::function<void(Pace)> listener);

  // --- on the loop's thread ---
  ReplyNews take_news();
  // Tells the listener what changed; one that comes later is told of a stream that is full, or gone.
  void tell(Pace pace);
  // Nobody is told anything any more, and nothing is taken: the loop ends.
  void forget();

  Connection* connection = nullptr;  // null once it is over

 private:
  enum class Phase : std::uint8_t { waiting, streaming, complete };

  // Precondition: the lock is held, which this gives up.
  void bring_news(std::unique_lock<std::mutex> lock);

  const Request request_;
  const std::shared_ptr<Mailbox> mailbox_;

  std::mutex mutex_;
  Phase phase_ = Phase::waiting;
  bool has_news_ = true;  // until it is looked at for the first time, which whoever hands it out does
  bool is_gone_ = false;
  bool is_listener_new_ = false;
  std::optional<Pace> pace_;
  ReplyNews news_;
  std::function<void(Pace)> listener_;
};

}  // namespace ingot::http
