#include "server/broker_metrics/broker_metrics.h"

#include <array>

#include "server/metrics/metrics_text.h"

namespace ingot {
namespace {

struct Count {
  std::string_view name;  // of a counter, behind what it is of
  std::string_view meaning;
  std::uint64_t ClientCounts::* number;
  double unit = 1;
};

constexpr std::array counts = {
    Count{"packets_total", "Packets that were done or refused", &ClientCounts::packets},
    Count{"dispatches_total", "Contracts that were run, those of lists included", &ClientCounts::dispatches},
    Count{"lists_total", "Lists that were run", &ClientCounts::lists},
    Count{"refusals_total", "Packets that were refused", &ClientCounts::refusals},
    Count{"faults_total", "Touches of memory that is nobody's, each of which ends a worker", &ClientCounts::faults},
    Count{"heartbeats_total", "Signs of life of a worker, ten a second", &ClientCounts::heartbeats},
    Count{"busy_seconds_total", "Time in which packets were worked on", &ClientCounts::busy_nanoseconds, 1e-9},
};
static_assert(counts.size() == counts_that_grow.size());

constexpr std::string_view whose =
    ", as a worker counts them in memory that its client may write: of a client alone, only as true as that client is.";
constexpr std::string_view of_all_that_came =
    ", of all clients that ever came. Workers count in memory that their clients may write; of each no more is "
    "believed "
    "than one a nanosecond.";

double number_of(const Count& count, const ClientCounts& of) {
  return static_cast<double>(of.*count.number) * count.unit;
}

// A worker's process is told as well, since others who watch processes know no numbers of clients.
class ClientLabels {
 public:
  explicit ClientLabels(const ClientFigures& of)
      : client_(std::to_string(of.client)), worker_(std::to_string(of.worker)) {}
  std::array<MetricLabel, 2> get() const { return {MetricLabel{"client", client_}, MetricLabel{"worker", worker_}}; }

 private:
  std::string client_;
  std::string worker_;
};

class Writer {
 public:
  explicit Writer(const BrokerFigures& figures) : figures_(figures) {}

  void gauge(std::string_view name, std::string_view help, double value) {
    text_.begin_gauge(name, help);
    text_.sample({}, value);
  }
  void counter(std::string_view name, std::string_view help, double value) {
    text_.begin_counter(name, help);
    text_.sample({}, value);
  }
  void totals() {
    for (const Count& count : counts) {
      counter(std::string("ingot_accelerator_").append(count.name), std::string(count.meaning).append(of_all_that_came),
              number_of(count, figures_.total));
    }
  }
  void clients() {
    for (const Count& count : counts) {
      text_.begin_counter(std::string("ingot_accelerator_client_").append(count.name),
                          std::string(count.meaning).append(whose));
      samples([&](const ClientFigures& of) { return number_of(count, of.counts); });
    }
    text_.begin_gauge("ingot_accelerator_client_mapped_bytes",
                      std::string("Memory of the client that its worker sees").append(whose));
    samples([](const ClientFigures& of) { return static_cast<double>(of.counts.mapped_bytes); });
    text_.begin_gauge("ingot_accelerator_client_busy_share",
                      std::string("Share of the time since the client came in which its packets were worked on, 0 to 1")
                          .append(whose));
    samples([](const ClientFigures& of) {
      const auto there = static_cast<double>(of.since_it_came.count());
      return there > 0 ? static_cast<double>(of.counts.busy_nanoseconds) / there : 0;
    });
  }
  const std::string& text() const { return text_.text(); }

 private:
  template <class Number>
  void samples(const Number& number) {
    for (const ClientFigures& client : figures_.clients) {
      const ClientLabels labels(client);
      text_.sample(labels.get(), number(client));
    }
  }

  const BrokerFigures& figures_;
  MetricsText text_;
};

}  // namespace

std::string broker_metrics_text(const BrokerFigures& figures) {
  Writer writer(figures);
  writer.gauge("ingot_accelerator_clients", "Clients that are there, with a worker each.",
               static_cast<double>(figures.clients.size()));
  writer.counter("ingot_accelerator_clients_accepted_total", "Clients that ever came.",
                 static_cast<double>(figures.came));
  writer.counter("ingot_accelerator_clients_refused_total",
                 "Clients that were refused: there were too many, or no worker could be started.",
                 static_cast<double>(figures.refused));
  writer.totals();
  writer.clients();
  return writer.text();
}

}  // namespace ingot
