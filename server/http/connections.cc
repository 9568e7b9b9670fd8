#include "server/http/connections.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace ingot::http {

Connections::Connections(const Limits& all_limits, Handler& its_handler, Loop& loop, std::shared_ptr<Tls> tls)
    : ConnectionKeeper(all_limits, its_handler), loop_(loop), tls_(std::move(tls)) {
  mailbox = std::make_shared<Mailbox>(loop, [this] { collect_replies(); });
  scratch = std::make_unique<char[]>(scratch_bytes);
}

Connections::~Connections() {
  mailbox->close();
  for (List* list : {&idle_, &busy_, &leaving_}) {
    for (const std::shared_ptr<Connection>& connection : *list) connection->forget();
  }
}

Connections::List& Connections::list_of(Stage stage) {
  switch (stage) {
    case Stage::idle: return idle_;
    case Stage::leaving: return leaving_;
    default: return busy_;
  }
}

bool Connections::is_plain(const Client& client) const {
  // Who can open a Unix socket is on this machine: there is nobody in between.
  return tls_ == nullptr || client.peer == unix_peer;
}

void Connections::admit(int descriptor, Client client) {
  Counters::add(counters.accepted, 1);
  if (counters.connections >= limits->connections && !drop_one()) return turn_away(descriptor, client);
  Result<std::unique_ptr<Watch>> watch = loop_.watch(descriptor);
  if (!watch.ok()) return;  // no memory for one more: its descriptor is closed
  std::shared_ptr<Transport> transport = is_plain(client) ? plain_ : tls_->transport(descriptor);
  if (transport == nullptr) return;
  auto connection =
      std::make_shared<Connection>(*this, std::move(transport), std::move(watch).value(), std::move(client));
  idle_.push_back(connection);
  connection->place = std::prev(idle_.end());
  Counters::add(counters.connections, 1);
  connection->start();
}

bool Connections::drop_one() {
  List& list = idle_.empty() ? leaving_ : idle_;
  if (list.empty()) return false;
  Counters::add(counters.dropped, 1);
  list.front()->close();
  return true;
}

void Connections::turn_away(int descriptor, const Client& client) {
  Counters::add(counters.turned_away, 1);
  Request unknown;
  unknown.peer = client.peer;
  const Answer answer = handler->refuse({503, "all connections are taken by requests under way"}, unknown);
  // Whoever expects TLS would not understand it.
  if (!is_plain(client)) {
    ::close(descriptor);
    return;
  }
  std::string text =
      head_text(answer, {BodyForm::by_length, answer.body.size(), false, false}, date.at(std::time(nullptr)));
  text += answer.body;
  // Into the empty buffer of a new socket: where it does not fit, the end of the connection says enough.
  const ssize_t count = ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count > 0) Counters::add(counters.bytes_out, count);
  ::close(descriptor);
}

void Connections::on_stage(Connection& connection, Stage before) {
  if (before == Stage::answering) Counters::add(counters.answering, -1);
  if (connection.stage() == Stage::answering) Counters::add(counters.answering, 1);
  List& from = list_of(before);
  if (connection.stage() == Stage::closed) {
    from.erase(connection.place);
    Counters::add(counters.connections, -1);
    end_drain_if_empty();
    return;
  }
  List& to = list_of(connection.stage());
  to.splice(to.end(), from, connection.place);
}

void Connections::collect_replies() {
  for (const std::shared_ptr<Reply>& reply : mailbox->take()) {
    if (reply->connection != nullptr) {
      const std::shared_ptr<Connection> connection = reply->connection->shared_from_this();
      connection->collect();
    } else {
      reply->take_news();  // tells a late listener that the client is gone
    }
  }
}

void Connections::sweep() {
  const Moment now = std::chrono::steady_clock::now();
  for (List* list : {&idle_, &leaving_}) {
    while (!list->empty()) {
      const std::shared_ptr<Connection> oldest = list->front();
      oldest->look_at_clock(now);
      if (!list->empty() && list->front() == oldest) break;  // so are all behind it
    }
  }
  for (auto place = busy_.begin(); place != busy_.end();) {
    const std::shared_ptr<Connection> connection = *place++;
    connection->look_at_clock(now);
  }
}

std::chrono::milliseconds Connections::sweep_time() const {
  const auto shortest = std::min({limits->head_time, limits->idle_time, limits->unread_time, limits->ping_time});
  return std::clamp(shortest / 8, std::chrono::milliseconds(5), std::chrono::milliseconds(1000));
}

void Connections::drain(std::function<void()> done) {
  is_draining_ = true;
  drained_.push_back(std::move(done));
  for (List* list : {&idle_, &busy_}) {
    for (auto place = list->begin(); place != list->end();) {
      const std::shared_ptr<Connection> connection = *place++;
      connection->drain();
    }
  }
  end_drain_if_empty();
}

void Connections::end_drain_if_empty() {
  if (!is_draining_ || counters.connections != 0) return;
  for (std::function<void()>& done : std::exchange(drained_, {})) {
    if (done) loop_.post(std::move(done));
  }
}

}  // namespace ingot::http
