#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "accelerator/broker.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "kernels/all_operations.h"
#include "machine/limits.h"
#include "machine/machine.h"

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
    "  ingot accelerator --socket /tmp/gpu --json               a line of JSON for each client that comes or leaves";

struct Options {
  std::string path;
  int threads = 0;
  int clients = 64;
  bool json = false;
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
               {"mapped_bytes", counts.mapped_bytes},
               {"busy_seconds", counts.busy_seconds}});
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
          mebibytes(news.counts.mapped_bytes), news.counts.busy_seconds);
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

Result<void> serve(const Options& options) {
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
  if (is_json) {
    print_json(
        {{"event", "listening"}, {"socket", path}, {"contracts", all_operations().size()}, {"threads", threads}});
  } else {
    std::fprintf(stderr, "listening at %s: %zu contracts, %d thread%s a client\n",
                 coloured(path, Colour::bold, stderr).c_str(), all_operations().size(), threads,
                 threads == 1 ? "" : "s");
  }
  return broker.run();
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
  command.add_flag("--json", options->json, "machine-readable output, a line an event");
  command.callback([options, &exit_code] { exit_code = finish_command(serve(*options)); });
}

}  // namespace ingot::accelerator_command
