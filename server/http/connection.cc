#include "server/http/connection.h"

#include <poll.h>

#include <cerrno>
#include <utility>

namespace ingot::http {
namespace {

constexpr std::size_t pipelined_bytes = 64 << 10;  // then nothing is received until it is their turn
constexpr std::chrono::milliseconds leaving_time{2000};

}  // namespace

Connection::Connection(ConnectionKeeper& keeper, std::shared_ptr<Transport> transport, std::unique_ptr<Watch> watch,
                       Client client)
    : keeper_(keeper),
      transport_(std::move(transport)),
      watch_(std::move(watch)),
      client_(std::move(client)),
      since_(current_moment()) {}

Connection::~Connection() = default;

void Connection::start() { wait_for_input(); }

void Connection::enter(Stage stage) {
  const Stage before = std::exchange(stage_, stage);
  since_ = current_moment();
  keeper_.on_stage(*this, before);
}

void Connection::wait_for_input() {
  if (is_reading_ || is_input_over_ || stage_ == Stage::closed) return;
  if (!has_room_for_input()) return;
  is_reading_ = true;
  watch_->wait(Readiness::readable, shared_from_this());
}

void Connection::on_ready(Readiness readiness) {
  if (stage_ == Stage::closed) return;
  if (readiness == Readiness::writable) {
    is_writing_ = false;
    flush();
    if (stage_ != Stage::closed && transport_->receives_after_sending()) receive();
  } else {
    is_reading_ = false;
    receive();
  }
  wait_for_input();
}

bool Connection::has_room_for_input() const {
  if (stage_ != Stage::answering) return true;
  return pipelined_.size() < pipelined_bytes && !keeper_.read_account.refusal_for(client_.peer);
}

void Connection::receive() {
  if (!has_room_for_input()) return;
  while (receive_once() && stage_ != Stage::closed && transport_->has_received_more()) {
  }
  if (stage_ != Stage::closed && transport_->receives_after_sending()) wait_for_room();
}

bool Connection::receive_once() {
  const ssize_t count = transport_->receive(watch_->descriptor(), {keeper_.scratch.get(), keeper_.scratch_bytes});
  if (count < 0) {
    fail_to_receive(errno);
    return false;
  }
  if (count == 0) {
    end_of_input();
    return false;
  }
  Counters::add(keeper_.counters.bytes_in, count);
  const std::string_view bytes(keeper_.scratch.get(), static_cast<std::size_t>(count));
  if (stage_ == Stage::answering) {
    pipelined_.append(bytes);
    count_held();
  } else if (stage_ != Stage::leaving) {
    consume(bytes);
  }
  return true;
}

void Connection::fail_to_receive(int error) {
  if (Transport::is_busy(error)) return;
  if (error == EPROTO) Counters::add(keeper_.counters.tls_failures, 1);
  if (error != EPROTO || !transport_->has_become_plain()) return close();
  begin_reading();
  refuse({400, "expected TLS, found plain HTTP: ask with https:// instead of http://"});
}

void Connection::wait_for_room() {
  if (std::exchange(is_writing_, true)) return;
  watch_->wait(Readiness::writable, shared_from_this());
}

void Connection::end_of_input() {
  // An answer that is made already is still sent; one that is being made is for nobody.
  if (stage_ != Stage::answering || !is_complete_) return close();
  is_input_over_ = true;
  keeps_alive_ = false;
}

void Connection::consume(std::string_view bytes) {
  is_consuming_ = true;
  while (!bytes.empty() && (stage_ == Stage::idle || stage_ == Stage::reading)) {
    if (!reader_) begin_reading();
    const bool was_in_body = reader_->state() == RequestReader::State::body;
    const std::size_t used = reader_->feed(bytes);
    bytes.remove_prefix(used);
    if (stage_ == Stage::idle && !reader_->is_blank()) enter(Stage::reading);
    switch (reader_->state()) {
      case RequestReader::State::refused: refuse(reader_->refusal()); break;
      case RequestReader::State::complete: hand_out(); break;
      case RequestReader::State::head: require_room(); break;
      case RequestReader::State::body: take_body(used, !was_in_body); break;
    }
  }
  if (stage_ == Stage::idle) end_reading();  // only empty lines came
  if (stage_ == Stage::answering) pipelined_.append(bytes);
  count_held();
  is_consuming_ = false;
}

void Connection::begin_reading() {
  reader_ = std::make_unique<RequestReader>(*keeper_.limits);
  reader_->request().peer = client_.peer;
  reader_->request().is_to_loopback = client_.is_to_loopback;
}

void Connection::take_body(std::size_t count, bool is_begin) {
  if (is_begin && !keeper_.handler->wants_body(reader_->request())) return hand_out();
  require_room();
  if (stage_ != Stage::reading) return;
  if (is_begin) body_flow_.begin(current_moment());
  body_flow_.add(count);
  if (!reader_->take_wish_to_continue()) return;
  begin_sending();
  outgoing_.append("HTTP/1.1 100 Continue\r\n\r\n");
  flush();
}

void Connection::end_reading() {
  reader_.reset();
  count_held();
}

void Connection::count_held() {
  const std::size_t held = (reader_ ? reader_->held_bytes() : 0) + pipelined_.size();
  keeper_.read_account.change(client_.peer, std::exchange(held_bytes_, held), held);
}

void Connection::require_room() {
  count_held();
  if (const std::optional<Refusal> why = keeper_.read_account.refusal_for(client_.peer)) refuse(*why);
}

void Connection::hand_out() {
  const bool is_whole = reader_->state() == RequestReader::State::complete;
  is_version_1_0_ = reader_->is_version_1_0();
  keeps_alive_ = is_whole && reader_->keeps_alive();  // what follows half a body cannot be told from it
  Request request = reader_->take_request();
  if (!is_whole) request.body = {};
  end_reading();
  is_head_ = request.method == "HEAD";
  is_complete_ = false;
  enter(Stage::answering);
  reply_ = std::make_shared<Reply>(std::move(request), keeper_.mailbox);
  reply_->connection = this;
  keeper_.handler->handle(Reply::exchange_of(reply_));
  collect();
}

void Connection::refuse(const Refusal& refusal) {
  if (refusal.status == 408) Counters::add(keeper_.counters.late, 1);
  keeper_.counters.add_refusal(refusal.status);
  const Request known = reader_->take_request();
  Answer answer = keeper_.handler->refuse(refusal, known);
  end_reading();
  keeps_alive_ = false;
  is_head_ = known.method == "HEAD";
  enter(Stage::answering);
  send_answer(std::move(answer));
  flush();
}

void Connection::finish() {
  if (reply_) reply_->connection = nullptr;
  reply_.reset();
  ping_ = {};
  is_full_ = false;
  is_complete_ = false;
  if (!keeps_alive_) return leave();
  enter(Stage::idle);
  if (is_consuming_) return;  // whoever consumes goes on
  const std::string bytes = std::exchange(pipelined_, {});
  consume(bytes);
  wait_for_input();
}

void Connection::leave() {
  pipelined_ = {};
  count_held();
  if (is_input_over_) return close();
  transport_->end_sending(watch_->descriptor());
  enter(Stage::leaving);
  wait_for_input();
}

void Connection::close() {
  if (stage_ == Stage::closed) return;
  const auto self = shared_from_this();
  const std::shared_ptr<Reply> reply = std::exchange(reply_, nullptr);
  const bool is_told = reply && !is_complete_;
  if (reply) reply->connection = nullptr;
  forget();
  enter(Stage::closed);
  if (is_told) reply->tell(Pace::gone);
}

void Connection::forget() {
  if (reply_) {
    reply_->forget();
    reply_->connection = nullptr;
  }
  reply_.reset();
  pipelined_ = {};
  end_reading();
  outgoing_ = {};
  count_unsent();
  watch_.reset();
}

void Connection::drain() {
  keeps_alive_ = false;
  if (stage_ == Stage::idle) return close();
  if (stage_ == Stage::reading) refuse({503, "the server ends"});
}

void Connection::give_up() {
  Counters::add(keeper_.counters.late, 1);
  close();
}

bool Connection::has_left_unseen() const {
  if (is_reading_ || is_input_over_) return false;
  pollfd state{watch_->descriptor(), POLLRDHUP, 0};
  return ::poll(&state, 1, 0) == 1;
}

void Connection::look_at_clock(Moment moment) {
  const Limits& limits = *keeper_.limits;
  switch (stage_) {
    case Stage::idle:
      if (moment - since_ > limits.idle_time) give_up();
      break;
    case Stage::leaving:
      if (moment - since_ > leaving_time) close();
      break;
    case Stage::reading:
      if (reader_->state() == RequestReader::State::head) {
        if (moment - since_ > limits.head_time) refuse({408, "the head of the request came too slowly"});
      } else if (body_flow_.is_slow(moment, limits.head_time, limits.least_bytes_a_second)) {
        refuse({408, "the body of the request came too slowly"});
      }
      wait_for_input();
      break;
    case Stage::answering:
      if (!outgoing_.is_empty()) {
        if (answer_flow_.is_slow(moment, limits.unread_time, limits.least_bytes_a_second)) return give_up();
      } else if (is_streaming_ && !is_head_ && !ping_.empty() && moment - progress_ > limits.ping_time) {
        send_pieces(ping_);
        flush();
      }
      if (stage_ == Stage::answering && has_left_unseen()) return close();
      wait_for_input();  // there may be room again
      break;
    case Stage::closed: break;
  }
}

}  // namespace ingot::http
