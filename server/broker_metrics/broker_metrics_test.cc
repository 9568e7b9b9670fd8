#include "server/broker_metrics/broker_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/accelerator/layout.h"

namespace ingot {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

// A reader that takes nothing but what the form allows: https://prometheus.io/docs/instrumenting/exposition_formats.
struct Scrape {
  std::map<std::string, double> samples;  // by name and labels, as they stand
  std::map<std::string, std::string> types, helps;

  explicit Scrape(const std::string& text) {
    EXPECT_TRUE(text.ends_with('\n'));
    std::string family;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("# HELP ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(helps.emplace(family, line.substr(8 + family.size())).second) << "twice: " << line;
        EXPECT_FALSE(helps[family].empty());
      } else if (line.starts_with("# TYPE ")) {
        EXPECT_EQ(line.substr(7, family.size() + 1), family + " ");
        EXPECT_TRUE(types.emplace(family, line.substr(8 + family.size())).second) << "twice: " << line;
      } else {
        take_sample(line, family);
      }
    }
    EXPECT_EQ(types.size(), helps.size());
  }
  double of(const std::string& name) const {
    const auto found = samples.find(name);
    EXPECT_NE(found, samples.end()) << name;
    return found == samples.end() ? -1 : found->second;
  }

 private:
  void take_sample(const std::string& line, const std::string& family) {
    const std::size_t space = line.rfind(' ');
    ASSERT_NE(space, std::string::npos) << line;
    const std::string name = line.substr(0, space);
    EXPECT_EQ(name.substr(0, name.find('{')), family) << line;
    EXPECT_EQ(types[family] == "counter", family.ends_with("_total")) << line;
    EXPECT_EQ(name.find(' '), std::string::npos) << line;
    std::size_t used = 0;
    const double value = std::stod(line.substr(space + 1), &used);
    EXPECT_EQ(used, line.size() - space - 1) << line;
    EXPECT_TRUE(std::isfinite(value) && value >= 0) << line;
    EXPECT_TRUE(samples.emplace(name, value).second) << "twice: " << line;
  }
};

ClientFigures client(std::uint64_t number, pid_t worker, std::chrono::nanoseconds since, const ClientCounts& counts) {
  return {number, worker, since, counts};
}

TEST(BrokerMetrics, OfNobodyAreZeroesAndNoSamplesOfClients) {
  const Scrape scrape(broker_metrics_text({}));
  EXPECT_EQ(scrape.of("ingot_accelerator_clients"), 0);
  EXPECT_EQ(scrape.of("ingot_accelerator_packets_total"), 0);
  EXPECT_EQ(scrape.types.at("ingot_accelerator_client_packets_total"), "counter");
  for (const auto& [name, value] : scrape.samples) EXPECT_EQ(name.find('{'), std::string::npos) << name;
}

TEST(BrokerMetrics, TellEachClientByNumberAndWorker) {
  BrokerFigures figures;
  figures.clients = {client(3, 71, std::chrono::seconds(4),
                            {.packets = 5,
                             .dispatches = 6,
                             .lists = 7,
                             .refusals = 8,
                             .faults = 9,
                             .heartbeats = 10,
                             .busy_nanoseconds = 1'000'000'000,
                             .mapped_bytes = 4096}),
                     client(4, 72, std::chrono::seconds(0), {})};
  figures.came = 4;
  figures.refused = 2;
  figures.total = {.packets = 50, .busy_nanoseconds = 2'500'000'000};
  const Scrape scrape(broker_metrics_text(figures));
  const auto of_client = [&](const std::string& what) {
    return scrape.of("ingot_accelerator_client_" + what + "{client=\"3\",worker=\"71\"}");
  };
  EXPECT_EQ(of_client("packets_total"), 5);
  EXPECT_EQ(of_client("dispatches_total"), 6);
  EXPECT_EQ(of_client("lists_total"), 7);
  EXPECT_EQ(of_client("refusals_total"), 8);
  EXPECT_EQ(of_client("faults_total"), 9);
  EXPECT_EQ(of_client("heartbeats_total"), 10);
  EXPECT_EQ(of_client("busy_seconds_total"), 1);
  EXPECT_EQ(of_client("mapped_bytes"), 4096);
  EXPECT_EQ(of_client("busy_share"), 0.25);
  EXPECT_EQ(scrape.of("ingot_accelerator_client_busy_share{client=\"4\",worker=\"72\"}"), 0);
  EXPECT_EQ(scrape.of("ingot_accelerator_clients"), 2);
  EXPECT_EQ(scrape.of("ingot_accelerator_clients_accepted_total"), 4);
  EXPECT_EQ(scrape.of("ingot_accelerator_clients_refused_total"), 2);
  EXPECT_EQ(scrape.of("ingot_accelerator_packets_total"), 50);
  EXPECT_EQ(scrape.of("ingot_accelerator_busy_seconds_total"), 2.5);
}

TEST(BrokerMetrics, SayWhoWritesWhatTheyTell) {
  const Scrape scrape(broker_metrics_text({}));
  for (const auto& [name, help] : scrape.helps) {
    if (name.starts_with("ingot_accelerator_clients")) continue;  // the broker's own
    EXPECT_NE(help.find("may write"), std::string::npos) << name;
  }
}

TEST(BrokerMetrics, KeepTheirFormWhateverIsCounted) {
  BrokerFigures figures;
  const ClientCounts all = {largest, largest, largest, largest, largest, largest, largest, largest};
  figures.clients = {client(largest, -1, std::chrono::nanoseconds::max(), all),
                     client(1, 1, std::chrono::nanoseconds::min(), all)};
  figures.total = all;
  const Scrape scrape(broker_metrics_text(figures));
  EXPECT_EQ(scrape.of("ingot_accelerator_packets_total"), 0x1p64);
}

// What anybody wrote there, for 100 nanoseconds.
class Words {
 public:
  explicit Words(std::uint64_t everywhere) { write(everywhere); }
  void write(std::uint64_t everywhere) {
    for (Atomic<std::uint64_t>* word :
         {&words_->packets, &words_->dispatches, &words_->lists, &words_->refusals, &words_->fault_write,
          &words_->heartbeat, &words_->mapped_bytes, &words_->busy_nanoseconds}) {
      word->store(everywhere, MemoryOrder::relaxed);
    }
  }
  const accelerator::WorkerWords& get() const { return *words_; }

 private:
  std::unique_ptr<accelerator::WorkerWords> words_ = std::make_unique<accelerator::WorkerWords>();
};

TEST(BelievedCounts, NeverFallAndGrowByOneANanosecondAtMost) {
  Words words(7);
  BelievedCounts believed;
  const auto expect_all = [&](std::uint64_t expected, std::chrono::nanoseconds since, std::uint64_t bytes) {
    const ClientCounts& counts = believed.look(words.get(), since);
    for (const auto count : counts_that_grow) EXPECT_EQ(counts.*count, expected);
    EXPECT_EQ(counts.mapped_bytes, bytes);
  };
  expect_all(7, std::chrono::nanoseconds(100), 7);
  words.write(largest);
  expect_all(100, std::chrono::nanoseconds(100), largest);
  words.write(0);
  expect_all(100, std::chrono::nanoseconds(200), 0);
  words.write(150);
  expect_all(150, std::chrono::nanoseconds(300), 150);
  expect_all(150, std::chrono::nanoseconds(-1), 150);
}

TEST(ClientCounts, AddUpToTheLargestNumberAndNoFurther) {
  ClientCounts sum = {.packets = largest - 1, .lists = 1};
  add(sum, {.packets = 5, .lists = 2, .mapped_bytes = 3});
  EXPECT_EQ(sum.packets, largest);
  EXPECT_EQ(sum.lists, 3U);
  EXPECT_EQ(sum.mapped_bytes, 3U);
}

}  // namespace
}  // namespace ingot
