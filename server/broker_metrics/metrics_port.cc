#include "server/broker_metrics/metrics_port.h"

#include <sys/socket.h>

#include <algorithm>
#include <ctime>

#include "server/http/answer_text.h"
#include "server/http/request_reader.h"
#include "server/origins.h"

namespace ingot {
namespace {

constexpr std::size_t bytes_a_turn = 16 << 10;  // then others have theirs
constexpr int accepted_a_turn = 16;
// Who waits at the door is ready all the time: without a pause, one who cannot be let in would keep the loop busy.
constexpr std::chrono::milliseconds pause_without_descriptors{100};

bool is_busy() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

http::Answer plain(int status, std::string text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text += '\n')};
}

}  // namespace

class MetricsPort::Visitor {
 public:
  Visitor(Descriptor socket, bool is_to_loopback, const http::Limits& limits, Clock::time_point until)
      : until_(until), socket_(std::move(socket)), is_to_loopback_(is_to_loopback), reader_(limits) {}

  Clock::time_point until() const { return until_; }
  bool is_gone() const { return stage_ == Stage::gone; }
  pollfd wait() const { return {socket_.get(), static_cast<short>(stage_ == Stage::sending ? POLLOUT : POLLIN), 0}; }

  void turn(const MetricsPort& port) {
    switch (stage_) {
      case Stage::reading: read(port); break;
      case Stage::sending: send(); break;
      case Stage::ending: end(port.limits_.unread_bytes); break;
      case Stage::gone: break;
    }
  }

 private:
  // `ending`: all was sent. A socket that is closed with bytes that were not read is reset, which may overtake the
  // answer; so what still comes is read and thrown away.
  enum class Stage : std::uint8_t { reading, sending, ending, gone };

  // How many bytes came; 0: none, or it has left.
  std::size_t receive(std::span<char> into) {
    const ssize_t count = ::recv(socket_.get(), into.data(), into.size(), 0);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0 || !is_busy()) stage_ = Stage::gone;
    return 0;
  }

  void read(const MetricsPort& port) {
    std::array<char, bytes_a_turn> bytes;
    const std::size_t count = receive(bytes);
    if (count == 0) return;
    reader_.feed(std::string_view(bytes.data(), count));
    switch (reader_.state()) {
      case http::RequestReader::State::head:
      case http::RequestReader::State::body: return;
      case http::RequestReader::State::refused:
        return answer(plain(reader_.refusal().status, reader_.refusal().reason));
      case http::RequestReader::State::complete: return answer(port.answer_to(reader_.request(), is_to_loopback_));
    }
  }

  void answer(const http::Answer& answer) {
    const http::AnswerForm form{.length = answer.body.size(), .keeps_alive = false};
    text_ = http::head_text(answer, form, http::DateText().at(std::time(nullptr)));
    if (reader_.request().method != "HEAD") text_ += answer.body;
    stage_ = Stage::sending;
    send();
  }

  void send() {
    const ssize_t count = ::send(socket_.get(), text_.data() + sent_, text_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0) {
      if (!is_busy()) stage_ = Stage::gone;
      return;
    }
    sent_ += static_cast<std::size_t>(count);
    if (sent_ < text_.size()) return;
    ::shutdown(socket_.get(), SHUT_WR);
    stage_ = Stage::ending;
  }

  void end(std::size_t most_unread) {
    std::array<char, bytes_a_turn> bytes;
    unread_ += receive(bytes);
    if (unread_ > most_unread) stage_ = Stage::gone;
  }

  Clock::time_point until_;
  Descriptor socket_;
  bool is_to_loopback_;
  http::RequestReader reader_;
  Stage stage_ = Stage::reading;
  std::string text_;
  std::size_t sent_ = 0;
  std::size_t unread_ = 0;
};

MetricsPort::MetricsPort(http::Listener listener, std::function<std::string()> text, MetricsPortLimits limits)
    : listener_(std::move(listener)),
      door_(listener_.take_descriptor()),
      text_(std::move(text)),
      limits_(limits),
      http_limits_{.head_bytes = limits.head_bytes, .target_bytes = limits.target_bytes, .body_bytes = 0} {}

MetricsPort::~MetricsPort() = default;

void MetricsPort::add_waits(std::vector<pollfd>& waits) {
  const bool accepts = Clock::now() >= accepts_from_;
  waits.push_back({accepts ? door_.get() : -1, POLLIN, 0});
  for (const auto& visitor : visitors_) waits.push_back(visitor->wait());
}

std::optional<MetricsPort::Clock::time_point> MetricsPort::next_turn() const {
  std::optional<Clock::time_point> next;
  if (accepts_from_ > Clock::now()) next = accepts_from_;
  // They came in this order, and all may stay for as long.
  if (!visitors_.empty()) next = std::min(next.value_or(Clock::time_point::max()), visitors_.front()->until());
  return next;
}

void MetricsPort::turn(std::span<const pollfd> waits) {
  const Clock::time_point now = Clock::now();
  for (std::size_t i = 0; i < visitors_.size(); ++i) {
    if (waits[i + 1].revents != 0) visitors_[i]->turn(*this);
  }
  std::erase_if(visitors_, [&](const auto& visitor) { return visitor->is_gone() || visitor->until() <= now; });
  if ((waits[0].revents & POLLIN) != 0) accept();
}

void MetricsPort::accept() {
  for (int count = 0; count < accepted_a_turn; ++count) {
    Descriptor socket(::accept4(door_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        accepts_from_ = Clock::now() + pause_without_descriptors;
      }
      return;
    }
    const std::optional<http::Client> client = http::client_of(socket.get());
    if (!client) continue;  // it has left already
    if (visitors_.size() >= limits_.visitors) visitors_.erase(visitors_.begin());
    visitors_.push_back(std::make_unique<Visitor>(std::move(socket), client->is_to_loopback, http_limits_,
                                                  Clock::now() + limits_.visit_time));
  }
}

http::Answer MetricsPort::answer_to(const http::Request& request, bool is_to_loopback) const {
  const Origins origins({});
  if (is_to_loopback && (!origins.is_own_host(request) || !origins.is_allowed(request))) {
    return plain(403, "expected an address or localhost in Host, and no page of another site, found another");
  }
  if (request.path != "/metrics") return plain(404, "expected /metrics: there is nothing else here");
  if (request.method != "GET" && request.method != "HEAD") {
    http::Answer answer = plain(405, "expected GET or HEAD, found " + request.method);
    answer.headers.push_back({"Allow", "GET, HEAD"});
    return answer;
  }
  return {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, text_()};
}

}  // namespace ingot
