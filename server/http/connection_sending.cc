// What a connection sends: answers, streams and their pace.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <utility>

#include "server/http/connection.h"

namespace ingot::http {
namespace {

constexpr std::size_t parts_a_call = 16;
constexpr std::size_t small_answer_bytes = 4 << 10;  // a refusal would take about as much

bool is_small(const ReplyNews& news) { return !news.is_stream && news.head->body.size() <= small_answer_bytes; }

}  // namespace

void Connection::collect() {
  if (!reply_ || stage_ != Stage::answering) return;
  const std::shared_ptr<Reply> reply = reply_;
  ReplyNews news = reply->take_news();
  if (news.head && keeper_.unsent_bytes > keeper_.limits->all_unsent_bytes && !is_small(news)) {
    return answer_instead({503, "more answers wait to be read by others than there is room for"});
  }
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
    return answer_instead({500, "the request was given up without an answer"});
  }
  flush();
}

void Connection::answer_instead(const Refusal& refusal) {
  const std::shared_ptr<Reply> reply = std::exchange(reply_, nullptr);
  reply->connection = nullptr;
  keeper_.counters.add_refusal(refusal.status);
  send_answer(keeper_.handler->refuse(refusal, reply->request()));
  flush();
  reply->tell(Pace::gone);  // nobody will read what is still written to it
}

void Connection::begin_sending() {
  if (!outgoing_.is_empty()) return;
  progress_ = current_moment();  // the client is not late with what was not there
  answer_flow_.begin(progress_);
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
      if (!Transport::is_busy(errno)) return close();
      wait_for_room();
      break;
    }
    outgoing_.remove(static_cast<std::size_t>(count));
    Counters::add(keeper_.counters.bytes_out, count);
    progress_ = current_moment();
    answer_flow_.add(static_cast<std::size_t>(count));
  }
  count_unsent();
  if (stage_ != Stage::answering) return;
  if (is_complete_ && outgoing_.is_empty()) return finish();
  tell_pace();
}

void Connection::count_unsent() {
  keeper_.unsent_bytes -= unsent_bytes_;
  unsent_bytes_ = outgoing_.size();
  keeper_.unsent_bytes += unsent_bytes_;
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

}  // namespace ingot::http
