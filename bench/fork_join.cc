// What does one fork and join cost, warm, with two threads?
//
// Two answers. "both take part": each of two chunks waits until the other has begun, so the figure is a full round trip
// between cores. "empty tasks": the caller may find all chunks itself, which is what tiny work costs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <vector>

#include "machine/workers.h"

namespace {

template <class Body>
void report(const char* name, Body body) {
  using clock = std::chrono::steady_clock;
  constexpr int samples = 2000, warm_up = 200, rounds = 16;  // rounds: the clock must not be what is measured
  std::vector<double> nanoseconds;
  for (int sample = -warm_up; sample < samples; ++sample) {
    auto begin = clock::now();
    for (int round = 0; round < rounds; ++round) body();
    std::chrono::duration<double, std::nano> elapsed = clock::now() - begin;
    if (sample >= 0) nanoseconds.push_back(elapsed.count() / rounds);
  }
  std::sort(nanoseconds.begin(), nanoseconds.end());
  auto quantile = [&](double share) { return nanoseconds[static_cast<std::size_t>(share * (samples - 1))]; };
  std::printf("%-16s median %6.0f ns   10%% %6.0f ns   90%% %6.0f ns   99%% %6.0f ns\n", name, quantile(0.5),
              quantile(0.1), quantile(0.9), quantile(0.99));
}

}  // namespace

int main() {
  auto created = ingot::Workers::create({.threads = 2});
  if (!created.ok()) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(created.error().text().size()), created.error().text().data());
    return 1;
  }
  ingot::Workers& workers = *created.value();
  report("both take part", [&] {
    std::atomic<int> begun{0};
    workers.for_chunks(2, 1, [&](std::int64_t, std::int64_t, int) {
      begun.fetch_add(1);
      while (begun.load() < 2) {
      }
    });
  });
  report("empty tasks", [&] { workers.for_chunks(2, 1, [](std::int64_t, std::int64_t, int) {}); });
}
