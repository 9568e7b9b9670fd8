// The broker: listens, and gives each client memory for rings of its own and a worker of its own. It computes nothing
// and believes nothing: what a client says reaches its worker alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "accelerator/broker_signals.h"
#include "accelerator/client_counts.h"
#include "accelerator/side_work.h"
#include "accelerator/worker.h"
#include "base/accelerator/layout.h"
#include "machine/unix_socket.h"

namespace ingot {

// How those end that nothing is wrong with.
inline constexpr std::string_view client_left = "the client left";
inline constexpr std::string_view broker_was_ended = "the broker was ended";
// How a worker ends that asks the system for what it may not have.
inline constexpr std::string_view asked_for_more = "the worker asked for what it may not have";

struct ClientNews {
  enum class Kind : std::uint8_t { came, left, refused };
  Kind kind = Kind::came;
  std::uint64_t client = 0;  // counted from 1
  pid_t worker = 0;
  ClientCounts counts = {};  // of one that left
  std::string end = {};      // of one that left: "the client left", "signal 9"; of one that was refused: why
};

struct ClientFigures {
  std::uint64_t client = 0;
  pid_t worker = 0;
  std::chrono::nanoseconds since_it_came{0};
  ClientCounts counts;
};

// What a broker tells of itself.
struct BrokerFigures {
  std::vector<ClientFigures> clients;  // those that are there, in the order in which they came
  std::uint64_t came = 0;
  std::uint64_t refused = 0;
  ClientCounts total;  // of all that ever came: what grows never falls
};

struct BrokerOptions {
  std::string path;
  WorkerTask task;
  std::size_t most_clients = 64;
  std::function<void(const ClientNews&)> tell;  // may be empty
};

class Broker {
 public:
  // Listens already: who connects from now on is served.
  static Result<Broker> create(BrokerOptions options);

  // Until SIGTERM or SIGINT comes; then all workers end. One thread, which forks: others must not hold locks meanwhile.
  // What stands beside is given its turns.
  Result<void> run(SideWork* beside = nullptr);

  // On the thread that runs it: what is read is remembered, so that it never falls.
  BrokerFigures figures();

 private:
  using Clock = SideWork::Clock;
  struct Client {
    std::uint64_t number = 0;
    SharedMemory rings;  // to read counts, and to tell of the worker's end
    Descriptor answer_bell;
    Descriptor fault_bell;
    Clock::time_point came;
    BelievedCounts counts = {};

    ClientFigures figures(pid_t worker);
  };
  Broker(BrokerOptions options, std::unique_ptr<BrokerSignals> signals, UnixListener listener, std::uint64_t digest)
      : options_(std::move(options)), signals_(std::move(signals)), listener_(std::move(listener)), digest_(digest) {}

  static Result<void> wait(std::vector<pollfd>& waits, const SideWork* beside);
  void greet();
  Result<void> accept();
  Result<void> start_worker(Descriptor socket);
  static void tell_end(const Client& client);
  void reap();
  // What is told of a worker that has ended, and of its client.
  void bury(pid_t ended, std::string reason);
  void tell(const ClientNews& news) const {
    if (options_.tell) options_.tell(news);
  }

  BrokerOptions options_;
  std::unique_ptr<BrokerSignals> signals_;  // from the start on: who ends it early leaves no socket behind
  UnixListener listener_;
  std::uint64_t digest_;  // of all contracts
  std::map<pid_t, Client> clients_;
  std::uint64_t last_number_ = 0;
  std::uint64_t refused_ = 0;
  ClientCounts ended_;  // of clients that have left
};

}  // namespace ingot
