#include "server/http/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <utility>

namespace ingot::http {
namespace {

constexpr std::size_t pipelined_bytes = 64 << 10;  // then nothing is received until it is their turn
constexpr std::chrono::milliseconds leaving_time{2000};
constexpr std::size_t parts_a_call = 16;

Moment now() { return std::chrono::steady_clock::now(); }

bool is_busy(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Connection::Connection(ConnectionKeeper& keeper, std::shared_ptr<Transport> transport, std::unique_ptr<Watch> watch,
                       Client client)
    : keeper_(keeper),
      transport_(std::move(transport)),
      watch_(std::move(watch)),
      client_(std::move(client)),
      since_(now()) {}

Connection::~Connection() = default;

void Connection::start() { wait_for_input(); }

void Connection::enter(Stage stage) {
  const Stage before = std::exchange(stage_, stage);
  since_ = now();
  keeper_.on_stage(*this, before);
}

void Connection::wait_for_input() {
  if (is_reading_ || is_input_over_ || stage_ == Stage::closed) return;
  if (stage_ == Stage::answering && pipelined_.size() >= pipelined_bytes) return;
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

void Connection::receive() {
  while (receive_once() && stage_ != Stage::closed && transport_->has_received_more()) {
  }
  if (stage_ != Stage::closed && transport_->receives_after_sending()) wait_for_room();
}

bool Connection::receive_once() {
  const ssize_t count = transport_->receive(watch_->descriptor(), {keeper_.scratch.get(), keeper_.scratch_bytes});
  if (count < 0) {
    if (!is_busy(errno)) close();
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
  } else if (stage_ != Stage::leaving) {
    consume(bytes);
  }
  return true;
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
    if (!reader_) reader_ = std::make_unique<RequestReader>(*keeper_.limits);
    const bool was_in_body = reader_->state() == RequestReader::State::body;
    const std::size_t used = reader_->feed(bytes);
    bytes.remove_prefix(used);
    if (stage_ == Stage::idle && !reader_->is_blank()) enter(Stage::reading);
    switch (reader_->state()) {
      case RequestReader::State::refused: refuse(reader_->refusal()); break;
      case RequestReader::State::complete: hand_out(); break;
      case RequestReader::State::head: break;
      case RequestReader::State::body:
        if (!was_in_body) window_ = now();
        window_bytes_ = was_in_body ? window_bytes_ + used : used;
        if (reader_->take_wish_to_continue()) {
          outgoing_.append("HTTP/1.1 100 Continue\r\n\r\n");
          flush();
        }
        break;
    }
  }
  if (stage_ == Stage::idle) reader_.reset();  // only empty lines came
  if (stage_ == Stage::answering) pipelined_.append(bytes);
  is_consuming_ = false;
}

void Connection::hand_out() {
  is_version_1_0_ = reader_->is_version_1_0();
  keeps_alive_ = reader_->keeps_alive();
  Request request = reader_->take_request();
  reader_.reset();
  request.peer = client_.peer;
  request.is_to_loopback = client_.is_to_loopback;
  is_head_ = request.method == "HEAD";
  is_complete_ = false;
  enter(Stage::answering);
  reply_ = std::make_shared<Reply>(std::move(request), keeper_.mailbox);
  reply_->connection = this;
  keeper_.handler->handle(Reply::exchange_of(reply_));
  collect();
}

void Connection::collect() {
  if (!reply_ || stage_ != Stage::answering) return;
  const std::shared_ptr<Reply> reply = reply_;
  ReplyNews news = reply->take_news();
  if (news.head && news.is_stream) {
    begin_stream(*news.head, std::move(news.ping));
  } else if (news.head) {
    send_answer(std::move(*news.head));
  }
  if (is_streaming_) {
    send_pieces(std::move(news.pieces));
    if (news.is_ended) end_stream();
    if (news.is_let_go) return cut_off();
  } else if (news.is_let_go) {
    send_answer(keeper_.handler->refuse(500, "the request was given up without an answer"));
  }
  flush();
}

void Connection::refuse(const Refusal& refusal) {
  Counters::add(refusal.status == 408 ? keeper_.counters.late : keeper_.counters.malformed,
                refusal.status == 503 ? 0 : 1);
  const Answer answer = keeper_.handler->refuse(refusal.status, refusal.reason);
  reader_.reset();
  keeps_alive_ = false;
  is_head_ = false;
  enter(Stage::answering);
  send_answer(answer);
  flush();
}

void Connection::begin_sending() {
  if (outgoing_.is_empty()) progress_ = now();  // the client is not late with what was not there
}

void Connection::send_answer(Answer answer) {
  begin_sending();
  const AnswerForm form{BodyForm::by_length, answer.body.size(), keeps_alive_, is_version_1_0_};
  outgoing_.append(head_text(answer, form, keeper_.date.at(std::time(nullptr))));
  if (!is_head_) outgoing_.take(std::move(answer.body));
  is_complete_ = true;
}

void Connection::begin_stream(const Answer& head, std::string ping) {
  begin_sending();
  form_ = is_version_1_0_ ? BodyForm::until_close : BodyForm::in_chunks;
  if (is_version_1_0_) keeps_alive_ = false;
  outgoing_.append(head_text(head, {form_, 0, keeps_alive_, is_version_1_0_}, keeper_.date.at(std::time(nullptr))));
  ping_ = std::move(ping);
  is_streaming_ = true;
}

void Connection::send_pieces(std::string pieces) {
  if (pieces.empty() || is_head_) return;  // a chunk of no bytes would be the last
  begin_sending();
  if (form_ == BodyForm::in_chunks) {
    char size[24];
    std::snprintf(size, sizeof(size), "%zx\r\n", pieces.size());
    outgoing_.append(std::string_view(size));
    pieces += "\r\n";
  }
  outgoing_.take(std::move(pieces));
}

void Connection::end_stream() {
  begin_sending();
  if (form_ == BodyForm::in_chunks && !is_head_) outgoing_.append("0\r\n\r\n");
  is_streaming_ = false;
  is_complete_ = true;
}

void Connection::cut_off() {
  is_streaming_ = false;
  if (form_ == BodyForm::until_close) {
    // Where the end of the connection is the end of the body, only a reset tells that there was to be more.
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(watch_->descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    return close();
  }
  keeps_alive_ = false;
  is_complete_ = true;
  flush();
}

void Connection::flush() {
  while (!outgoing_.is_empty() && !is_writing_ && stage_ != Stage::closed) {
    std::array<iovec, parts_a_call> parts;
    const std::size_t filled = outgoing_.parts(parts);
    const ssize_t count = transport_->send(watch_->descriptor(), std::span(parts).first(filled));
    if (count < 0) {
      if (!is_busy(errno)) return close();
      wait_for_room();
      break;
    }
    outgoing_.remove(static_cast<std::size_t>(count));
    Counters::add(keeper_.counters.bytes_out, count);
    progress_ = now();
  }
  if (stage_ != Stage::answering) return;
  if (is_complete_ && outgoing_.is_empty()) return finish();
  tell_pace();
}

void Connection::tell_pace() {
  if (!is_streaming_ || !reply_) return;
  const bool is_over = outgoing_.size() > keeper_.limits->unsent_bytes;
  const bool is_under = outgoing_.size() < keeper_.limits->unsent_bytes / 2 || outgoing_.is_empty();
  if (is_full_ ? !is_under : !is_over) return;
  is_full_ = !is_full_;
  const std::shared_ptr<Reply> reply = reply_;
  reply->tell(is_full_ ? Pace::full : Pace::drains);
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
  reader_.reset();
  outgoing_ = {};
  pipelined_ = {};
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

bool Connection::is_body_late(Moment moment) {
  const auto passed = moment - window_;
  if (passed < keeper_.limits->head_time) return false;
  const double seconds = std::chrono::duration<double>(passed).count();
  if (static_cast<double>(window_bytes_) < seconds * static_cast<double>(keeper_.limits->body_bytes_a_second)) {
    return true;
  }
  window_ = moment;  // bytes of long ago are no excuse for waiting now
  window_bytes_ = 0;
  return false;
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
      } else if (is_body_late(moment)) {
        refuse({408, "the body of the request came too slowly"});
      }
      wait_for_input();
      break;
    case Stage::answering:
      if (!outgoing_.is_empty()) {
        if (moment - progress_ > limits.unread_time) return give_up();
      } else if (is_streaming_ && !is_head_ && !ping_.empty() && moment - progress_ > limits.ping_time) {
        send_pieces(ping_);
        flush();
      }
      if (stage_ == Stage::answering && has_left_unseen()) close();
      break;
    case Stage::closed: break;
  }
}

}  // namespace ingot::http
