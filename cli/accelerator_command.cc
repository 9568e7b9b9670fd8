#include <csignal>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "accelerator/broker.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kernels/all_operations.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "server/broker_metrics/broker_metrics.h"
#include "server/broker_metrics/metrics_address.h"
#include "server/broker_metrics/metrics_port.h"

namespace ingot::accelerator_command {
namespace {

constexpr const char* examples =
    "Runs contracts for other processes of this user, on memory that they share, by this machine's fastest rows. Each\n"
    "client has a worker of its own: a process that has nothing but that memory, may open nothing, and ends with its\n"
    "client. Who connects speaks QEMU's ivshmem server protocol and packets of AQL's shape (docs/decisions/043).\n"
    "SIGTERM or Ctrl-C ends it and all workers.\n"
    "\n"
    "Examples:\n"
    "  ingot accelerator                                        listens at $XDG_RUNTIME_DIR/ingot-accelerator\n"
    "  ingot accelerator --socket /tmp/gpu --threads 2          elsewhere, two threads a client\n"
    "  ingot run --device accelerator:/tmp/gpu -p 'Once'        a model's passes through its queue\n"
    "  ingot verify norm --device accelerator:/tmp/gpu          proves a family through it\n"
    "  ingot accelerator --socket /tmp/gpu --json               a line of JSON for each client that comes or leaves\n"
    "  ingot accelerator --metrics 127.0.0.1:9100               and GET /metrics tells Prometheus of clients and work\n"
    "\n"
    "--metrics listens by HTTP, without keys, on loopback unless an address says otherwise; port 0 is any that is "
    "free.\n"
    "What it counts is written by workers into memory that their clients may write: it is for people and graphs, and "
    "no\n"
    "bill. Totals never fall, and hold what ended clients did.";

struct Options {
  std::string path;
  int threads = 0;
  int clients = 64;
  bool json = false;
  std::string metrics;  // an address to listen on; empty: none
};

void print_json(const nlohmann::json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);  // who reads it waits for lines
}

nlohmann::json json_of(const ClientNews& news) {
  nlohmann::json line = {{"client", news.client}, {"worker", news.worker}};
  if (news.kind == ClientNews::Kind::refused) return {{"event", "refused"}, {"reason", news.end}};
  if (news.kind == ClientNews::Kind::came) {
    line["event"] = "came";
    return line;
  }
  const ClientCounts& counts = news.counts;
  line.update({{"event", "left"},
               {"end", news.end},
               {"packets", counts.packets},
               {"dispatches", counts.dispatches},
               {"lists", counts.lists},
               {"refusals", counts.refusals},
               {"mapped_bytes", counts.most_mapped_bytes},
               {"busy_seconds", counts.busy_seconds()}});
  return line;
}

void print_news(const ClientNews& news) {
  switch (news.kind) {
    case ClientNews::Kind::came:
      std::fprintf(stderr, "client %llu: worker %d\n", static_cast<unsigned long long>(news.client),
                   static_cast<int>(news.worker));
      break;
    case ClientNews::Kind::left:
      std::fprintf(
          stderr, "client %llu: %s; %llu packets, %llu dispatches, %llu lists, %llu refused, %.1f MiB shown, %.3f s\n",
          static_cast<unsigned long long>(news.client), news.end.c_str(),
          static_cast<unsigned long long>(news.counts.packets), static_cast<unsigned long long>(news.counts.dispatches),
          static_cast<unsigned long long>(news.counts.lists), static_cast<unsigned long long>(news.counts.refusals),
          mebibytes(news.counts.most_mapped_bytes), news.counts.busy_seconds());
      break;
    case ClientNews::Kind::refused: print_warning(news.end); break;
  }
}

Result<std::string> usual_path() {
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder == nullptr || *folder == '\0') {
    return Error::of(ErrorCode::invalid_argument,
                     "expected --socket PATH, or XDG_RUNTIME_DIR to say where sockets of this user lie, found neither");
  }
  return std::string(folder) + "/ingot-accelerator";
}

// Before the broker is: what is taken is an error while nobody computes.
Result<std::optional<http::Listener>> listen_for_metrics(MetricsAddress& address, const Options& options) {
  if (options.metrics.empty()) return std::optional<http::Listener>();
  address = TRY(MetricsAddress::of(options.metrics));
  Result<http::Listener> listener = http::Listener::on_address(address.host, address.port);
  if (!listener.ok()) return listener.error().within("--metrics");
  address.port = static_cast<std::uint16_t>(listener.value().port());
  return std::optional(std::move(listener).value());
}

void tell_start(const std::string& path, int threads, const std::string& metrics, bool is_json) {
  const std::size_t contracts = all_operations().size();
  if (is_json) {
    nlohmann::json line = {{"event", "listening"}, {"socket", path}, {"contracts", contracts}, {"threads", threads}};
    if (!metrics.empty()) line["metrics"] = metrics;
    return print_json(line);
  }
  std::fprintf(stderr, "listening at %s: %zu contracts, %d thread%s a client\n",
               coloured(path, Colour::bold, stderr).c_str(), contracts, threads, threads == 1 ? "" : "s");
  if (!metrics.empty()) std::fprintf(stderr, "metrics at http://%s/metrics\n", metrics.c_str());
}

Result<void> serve(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);  // whoever reads what is told may go: clients stay
  MetricsAddress address;
  std::optional<http::Listener> listener = TRY(listen_for_metrics(address, options));
  BrokerOptions broker_options;
  broker_options.path = options.path.empty() ? TRY(usual_path()) : options.path;
  const int threads = options.threads > 0 ? options.threads : usable_cpu_count();
  broker_options.task = {all_operations(), Machine::detect().features, threads};
  broker_options.most_clients = static_cast<std::size_t>(options.clients);
  const std::string path = broker_options.path;
  const bool is_json = options.json;
  broker_options.tell = [is_json](const ClientNews& news) {
    if (is_json) {
      print_json(json_of(news));
    } else {
      print_news(news);
    }
  };
  Broker broker = TRY(Broker::create(std::move(broker_options)));
  tell_start(path, threads, listener ? address.text() : "", is_json);
  if (!listener) return broker.run();
  MetricsPort metrics(std::move(*listener), [&broker] { return broker_metrics_text(broker.figures()); });
  return broker.run(&metrics);
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command =
      application.add_subcommand("accelerator", "run contracts for other processes, on memory that they share");
  command.footer(examples);
  command.add_option("--socket", options->path, "where to listen; $XDG_RUNTIME_DIR/ingot-accelerator where left out")
      .check(as_file());
  command.add_option("--threads", options->threads, "of each client's worker; as many as there are CPUs where left out")
      .check(between(1, 1024));
  command.add_option("--clients", options->clients, "how many there may be at a time")
      .check(between(1, 1024))
      .capture_default_str();
  command
      .add_option("--metrics", options->metrics,
                  "where to answer GET /metrics: an address and a port, or a port of loopback; nowhere where left out")
      .check(accepted_by("HOST:PORT", [](const std::string& text) -> Result<void> {
        TRY(MetricsAddress::of(text));
        return {};
      }));
  command.add_flag("--json", options->json, "machine-readable output, a line an event");
  command.callback([options, &exit_code] { exit_code = finish_command(serve(*options)); });
}

}  // namespace ingot::accelerator_command
