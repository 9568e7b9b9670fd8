// Connections: all there are, by stage, and who has to go when there are too many.
//
// One sweep looks at clocks for all of them. Those that idle or leave stand in the order in which they began to, so
// that only the first are looked at: ten thousand idle ones cost a sweep what one does.
#pragma once

#include <list>

#include "server/http/connection.h"
#include "server/http/tls.h"

namespace ingot::http {

class Connections final : public ConnectionKeeper {
 public:
  // The limits may have fewer connections than were asked for; they and the handler must outlive this.
  // Without `tls`, what comes is taken as it is.
  Connections(const Limits& limits, Handler& handler, Loop& loop, std::shared_ptr<Tls> tls);
  ~Connections() override;
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Takes a descriptor that was accepted. Where there is no room and nobody idles, it is told so and closed.
  void admit(int descriptor, Client client);
  // Closes the one that idles longest, or leaves longest; false where none does.
  bool drop_one();
  void sweep();
  std::chrono::milliseconds sweep_time() const;
  void collect_replies();

  void drain(std::function<void()> done);

  void on_stage(Connection& connection, Stage before) override;

 private:
  using List = std::list<std::shared_ptr<Connection>>;

  List& list_of(Stage stage);
  bool is_plain(const Client& client) const;
  void turn_away(int descriptor, const Client& client);
  void end_drain_if_empty();

  Loop& loop_;
  const std::shared_ptr<Transport> plain_ = std::make_shared<PlainTransport>();
  const std::shared_ptr<Tls> tls_;
  List idle_;
  List busy_;
  List leaving_;
  bool is_draining_ = false;
  std::vector<std::function<void()>> drained_;
};

}  // namespace ingot::http
