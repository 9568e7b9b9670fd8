// Connection: requests of one client, read and answered one after the other. All of it happens on the loop's thread.
//
// A read is always pending, also while an answer is made: that is how a client that leaves is seen at once. What it
// sends meanwhile waits for its turn.
#pragma once

#include <list>
#include <memory>

#include "server/http/answer_text.h"
#include "server/http/counters.h"
#include "server/http/flow.h"
#include "server/http/outgoing.h"
#include "server/http/read_account.h"
#include "server/http/reply.h"
#include "server/http/request_reader.h"
#include "server/http/transport.h"

namespace ingot::http {

// Who waits for whom; each stage has a list of its own.
enum class Stage : std::uint8_t {
  idle,       // for a request
  reading,    // for the rest of one
  answering,  // for the handler, or for the client to take what was answered
  leaving,    // all was said: for the client to close. Closing first could destroy what it has not read yet.
  closed,
};

// What connections share.
class ConnectionKeeper {
 public:
  // Both must outlive it.
  ConnectionKeeper(const Limits& its_limits, Handler& its_handler)
      : limits(&its_limits), handler(&its_handler), read_account(its_limits) {}
  virtual ~ConnectionKeeper() = default;
  virtual void on_stage(Connection& connection, Stage before) = 0;

  const Limits* limits;
  Handler* handler;
  std::shared_ptr<Mailbox> mailbox;
  Counters counters;
  DateText date;
  ReadAccount read_account;
  std::size_t unsent_bytes = 0;     // of all answers
  std::unique_ptr<char[]> scratch;  // what is received goes through it: an idle connection needs no buffer of its own
  static constexpr std::size_t scratch_bytes = 64 << 10;
};

struct Client {
  std::string peer;
  bool is_to_loopback = false;
};

class Connection final : public Watcher, public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionKeeper& keeper, std::shared_ptr<Transport> transport, std::unique_ptr<Watch> watch,
             Client client);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  Stage stage() const { return stage_; }
  Moment since() const { return since_; }

  void on_ready(Readiness readiness) override;
  // The reply has news.
  void collect();
  // Time has passed: is it too late for what it waits for?
  void look_at_clock(Moment now);
  // No request after this one.
  void drain();
  void close();
  // Closes without a word to who answers: the loop has ended.
  void forget();

  std::list<std::shared_ptr<Connection>>::iterator place;  // in the keeper's list of its stage

 private:
  void enter(Stage stage);
  // Of what comes while an answer is made, only so much is kept.
  bool has_room_for_input() const;
  void receive();
  // False where nothing more can be received now.
  bool receive_once();
  // It could not, for this errno.
  void fail_to_receive(int error);
  void wait_for_room();
  void end_of_input();
  void consume(std::string_view bytes);
  void begin_reading();
  // `count` bytes came, and there is more of the body to come.
  void take_body(std::size_t count, bool is_begin);
  void end_reading();
  void count_held();
  // Refuses where too much is held.
  void require_room();
  void hand_out();
  void refuse(const Refusal& refusal);
  // In place of what the handler answers.
  void answer_instead(const Refusal& refusal);
  void begin_sending();
  void send_answer(Answer answer);
  void begin_stream(const Answer& head, std::string ping);
  void send_pieces(std::string pieces);
  void end_stream();
  void cut_off();
  void flush();
  void count_unsent();
  void tell_pace();
  void finish();
  void leave();
  void wait_for_input();
  void give_up();
  bool has_left_unseen() const;

  ConnectionKeeper& keeper_;
  const std::shared_ptr<Transport> transport_;
  std::unique_ptr<Watch> watch_;
  const Client client_;

  std::unique_ptr<RequestReader> reader_;  // while a request is read
  std::shared_ptr<Reply> reply_;           // while one is answered by the handler
  Outgoing outgoing_;
  std::string pipelined_;  // what came while an answer was made
  std::string ping_;

  Moment since_;     // it entered its stage
  Moment progress_;  // the last bytes went out
  Flow body_flow_;
  Flow answer_flow_;              // since something waits to be sent
  std::size_t held_bytes_ = 0;    // as the account knows it
  std::size_t unsent_bytes_ = 0;  // as the keeper knows it

  Stage stage_ = Stage::idle;
  BodyForm form_ = BodyForm::by_length;
  bool keeps_alive_ = true;
  bool is_version_1_0_ = false;
  bool is_head_ = false;       // the request's method is HEAD
  bool is_streaming_ = false;  // the head is out, the end is not
  bool is_complete_ = false;   // all of the answer is in outgoing_
  bool is_full_ = false;       // the writer was told so
  bool is_consuming_ = false;
  bool is_reading_ = false;  // a wait for input is pending
  bool is_writing_ = false;  // a wait for room is pending
  bool is_input_over_ = false;
};

}  // namespace ingot::http
