#include "server/http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "server/http/connections.h"
#include "server/http/file_limit.h"
#include "server/http/listener.h"

namespace ingot::http {
namespace {

constexpr std::int64_t other_descriptors = 128;      // models, logs, the loop's own
constexpr std::size_t beside_body_bytes = 64 << 10;  // of a request: its head, a chunk's line
constexpr int accepted_at_once = 64;                 // then others get their turn
constexpr std::chrono::milliseconds pause_without_descriptors{100};

// Accepts what comes to one socket. It is closed before the loop ends.
class Door final : public Watcher, public std::enable_shared_from_this<Door> {
 public:
  Door(Loop& loop, Connections& connections, std::unique_ptr<Watch> watch)
      : loop_(loop), connections_(connections), watch_(std::move(watch)) {}

  void open() {
    if (watch_) watch_->wait(Readiness::readable, shared_from_this());
  }
  void close() { watch_.reset(); }

  void on_ready(Readiness) override {
    for (int count = 0; count < accepted_at_once && watch_; ++count) {
      const int descriptor = ::accept4(watch_->descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor >= 0) {
        admit(descriptor);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        break;
      } else if (is_shortage(errno) && !connections_.drop_one()) {
        // Whoever waits is ready all the time: without a pause the loop would do nothing but ask.
        loop_.post_after(pause_without_descriptors, [self = weak_from_this()] {
          if (const auto door = self.lock()) door->open();
        });
        return;
      }
    }
    open();
  }

 private:
  static bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
  }

  void admit(int descriptor) {
    const int yes = 1;  // pieces of a stream are sent as they come; a Unix socket knows no such thing
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    std::optional<Client> client = client_of(descriptor);
    if (client) {
      connections_.admit(descriptor, std::move(*client));
    } else {
      ::close(descriptor);
    }
  }

  Loop& loop_;
  Connections& connections_;
  std::unique_ptr<Watch> watch_;
};

class LoopServer final : public Server {
 public:
  LoopServer(const Limits& limits, Handler& handler, std::unique_ptr<Loop> loop, std::shared_ptr<Tls> tls,
             std::string warning)
      : limits_(limits),
        warning_(std::move(warning)),
        loop_(std::move(loop)),
        connections_(limits_, handler, *loop_, std::move(tls)) {}

  ~LoopServer() override { close_doors(); }
  LoopServer(const LoopServer&) = delete;
  LoopServer& operator=(const LoopServer&) = delete;

  Result<void> listen(Listener listener) {
    auto door = std::make_shared<Door>(*loop_, connections_, TRY(loop_->watch(listener.take_descriptor())));
    if (listener.port() != 0) port_ = listener.port();
    listeners_.push_back(std::move(listener));
    doors_.push_back(std::move(door));
    return {};
  }

  void begin() {
    for (const auto& door : doors_) door->open();
    sweep_later();
  }

  int port() const override { return port_; }
  std::string_view warning() const override { return warning_; }
  void run() override { loop_->run(); }

  void drain(std::function<void()> done) override {
    loop_->post([this, finished = std::move(done)]() mutable {
      close_doors();
      connections_.drain(std::move(finished));
    });
  }
  void stop() override { loop_->stop(); }
  void post(std::function<void()> task) override { loop_->post(std::move(task)); }
  void post_after(std::chrono::milliseconds delay, std::function<void()> task) override {
    loop_->post_after(delay, std::move(task));
  }
  ServerCounts counts() const override { return connections_.counters.now(); }

 private:
  void close_doors() {
    for (const auto& door : doors_) door->close();
    doors_.clear();
    listeners_.clear();
  }

  void sweep_later() {
    loop_->post_after(connections_.sweep_time(), [this] {
      connections_.sweep();
      sweep_later();
    });
  }

  const Limits limits_;
  const std::string warning_;
  int port_ = 0;
  const std::unique_ptr<Loop> loop_;
  Connections connections_;
  std::vector<Listener> listeners_;
  std::vector<std::shared_ptr<Door>> doors_;
};

// Fewer connections where the system does not let us have as many descriptors. By less than a tenth nobody misses them
// who did not ask for the number.
std::string fit_connections(Limits& limits, bool needs_all) {
  const std::int64_t allowed = raise_file_limit(limits.connections + other_descriptors);
  const std::int64_t possible = std::max<std::int64_t>(allowed - other_descriptors, 1);
  const std::int64_t wanted = limits.connections;
  if (possible >= wanted) return {};
  limits.connections = possible;
  if (!needs_all && possible >= wanted - wanted / 10) return {};
  return "expected " + std::to_string(wanted + other_descriptors) + " descriptors for " + std::to_string(wanted) +
         " connections, found a limit of " + std::to_string(allowed) + ": there will be " + std::to_string(possible) +
         " connections at most; raise the limit (ulimit -Hn) for more";
}

// A body that is allowed must fit, and not only while nobody else sends anything.
void fit_read_bytes(Limits& limits) {
  const std::size_t largest = limits.body_bytes + beside_body_bytes;
  limits.all_read_bytes = std::max(limits.all_read_bytes, 2 * largest);
  limits.peer_read_bytes = std::max(limits.peer_read_bytes, largest);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::create(const ServerOptions& options, Handler& handler) {
  if (options.host.empty() && options.unix_path.empty()) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected an address or the path of a Unix socket to listen on, found neither");
  }
  std::shared_ptr<Tls> tls;
  if (!options.certificate.empty() || !options.private_key.empty()) {
    tls = TRY(Tls::create(options.certificate, options.private_key));
  }
  std::vector<Listener> listeners;
  if (!options.host.empty()) listeners.push_back(TRY(Listener::on_address(options.host, options.port)));
  if (!options.unix_path.empty()) listeners.push_back(TRY(Listener::on_unix_path(options.unix_path)));
  Limits limits = options.limits;
  fit_read_bytes(limits);
  std::string warning = fit_connections(limits, options.needs_all_connections);
  auto server = std::make_unique<LoopServer>(limits, handler, TRY(Loop::create()), std::move(tls), std::move(warning));
  for (Listener& listener : listeners) {
    if (Result<void> listening = server->listen(std::move(listener)); !listening.ok()) return listening.error();
  }
  server->begin();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace ingot::http
