// Serving: a server from its first connection to its last. It listens before models are loaded, so that a port that is
// taken is known at once, and whoever asks meanwhile is told to come again.
//
//   auto serving = TRY(Serving::create(options));
//   TRY(serving->add(model, {.id = "name"}));
//   if (serving->open()) serving->run();
//
// Threads: the loop of connections, helpers and compilers, one for signals, and the caller's, which runs the passes.
#pragma once

#include <thread>

#include "server/application.h"

namespace ingot {

struct ServingOptions {
  http::ServerOptions http = {};
  ApiKeys keys = {};
  std::vector<std::string> hosts = {};  // and origins: as ApplicationOptions has them
  std::vector<std::string> origins = {};
  LogForm log = LogForm::text;
  std::optional<double> deadline_seconds = {};  // that a request may take
  std::chrono::seconds drain{30};               // that those under way get at the end
  bool hides_page = false;
};

class Serving {
 public:
  // SIGTERM and SIGINT are blocked from here on, in this thread and those it starts; SIGPIPE is ignored. A signal that
  // comes before open(), or after run() was told to return, ends the process at once, with 128 and its number.
  static Result<std::unique_ptr<Serving>> create(ServingOptions options);
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  int port() const { return server_->port(); }
  // Where clients find it: http://127.0.0.1:8080, unix:/run/ingot.sock.
  std::vector<std::string> addresses() const;
  // What whoever started it should know; may be empty.
  std::string_view warning() const { return server_->warning(); }

  Result<const HostedModel*> add(std::shared_ptr<const Model> model, HostedModelOptions options);
  // From now on requests are answered, as soon as run() is called. False where a signal was faster.
  [[nodiscard]] bool open();
  // Until SIGTERM or SIGINT.
  void run();

 private:
  explicit Serving(ServingOptions options);
  enum class Phase : std::uint8_t { loading, open, ending };

  void wait_for_signals();
  void drain();

  ServingOptions options_;
  Passes passes_;
  Application application_;
  std::vector<std::unique_ptr<HostedModel>> models_;
  std::unique_ptr<http::Server> server_;
  Helpers helpers_;  // end before all that their tasks use
  Helpers compilers_;
  std::atomic<Phase> phase_ = Phase::loading;
  std::atomic<bool> is_destroyed_ = false;
  std::thread loop_;
  std::thread signals_;
};

}  // namespace ingot
