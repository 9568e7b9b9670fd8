// How fast is the f32 product of linear.matmul next to OpenBLAS, BLIS and oneDNN, on the same threads, in one run?
//
//   bench_gemm_vs_peers [--code avx512|avx2] [--variant NAME] [--threads N] [--seconds S] [ROWSxCOLUMNSxDEPTH...]
//
// For each shape and thread count all libraries multiply the same matrices (y = x W^T) in turn, so that whatever else
// the machine does falls on all of them; who begins and who follows whom changes from round to round. Ratios are a
// peer's time over ours of the same round: median [quartiles]; above 1 we are faster. "of peak" is our rate over that
// of multiply-adds that touch no memory, measured beside. Results are compared before anything is timed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "bench/gemm_peers.h"
#include "kernels/contract/run.h"
#include "kernels/linear/family.h"
#include "kernels/linear/matmul/matmul.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/peaks.h"

namespace {

using namespace ingot;

struct Options {
  PeerCode code = PeerCode::their_choice;
  std::vector<ForcedVariant> forced;
  std::vector<int> threads = {1, 2};
  double seconds = 2;
  std::vector<GemmShape> shapes;
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double seconds_of(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The first available row that takes these arguments, as the plan would choose it.
const Variant<Matmul>& chosen_variant(const KernelTable& table, const Matmul::Arguments& arguments) {
  for (int index : table.available(Matmul::name)) {
    const Variant<Matmul>& variant = Matmul::variants()[static_cast<std::size_t>(index)];
    if (variant.accepts == nullptr || variant.accepts(arguments)) return variant;
  }
  return Matmul::variants().back();
}

std::vector<float> numbers(std::size_t count, unsigned state) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1;
  }
  return values;
}

// The samples of each body in turn, rounds of all of them until the time is spent. Threads of a library that just ran
// go on looking for work for some milliseconds (OpenBLAS: 64) and would take a CPU from the next one: there is a pause
// between them, and then calls that are not timed, so that each is timed with its threads awake and on CPUs of their
// own, for which the scheduler takes a tick or two.
std::vector<std::vector<double>> time_in_rounds(const std::vector<std::function<void()>>& bodies, bool pauses,
                                                double limit) {
  std::vector<std::vector<double>> samples(bodies.size());
  const auto begin = std::chrono::steady_clock::now();
  const auto is_left = [&] { return std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(limit); };
  for (std::size_t round = 0; is_left() || round < 7; ++round) {
    for (std::size_t turn = 0; turn < bodies.size(); ++turn) {
      const std::size_t index = (round + (round % 2 == 0 ? turn : bodies.size() - turn)) % bodies.size();
      if (pauses) std::this_thread::sleep_for(std::chrono::milliseconds(80));
      for (double warm = 0; pauses && warm < 0.02;) warm += seconds_of(bodies[index]);
      samples[index].push_back(seconds_of(bodies[index]));
    }
  }
  return samples;
}

bool compare(const std::vector<GemmPeer>& peers, const KernelTable& table, const GemmShape& shape, Workers& workers,
             double peak, double seconds) {
  const auto [m, n, k] = shape;
  const auto size = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  const std::vector<float> x = numbers(size(m, k), 1), weights = numbers(size(n, k), 2);
  std::vector<float> ours(size(m, n)), theirs(size(m, n));
  Matmul::Arguments arguments;
  arguments.x = View<const float>(x.data(), {m, k});
  arguments.weights = View<const float>(weights.data(), {n, k});
  arguments.y = View<float>(ours.data(), {m, n});
  const Variant<Matmul>& variant = chosen_variant(table, arguments);
  const std::size_t scratch = variant.scratch_bytes != nullptr ? variant.scratch_bytes(arguments, workers.count()) : 0;
  auto memory = Memory::allocate(Bytes(scratch + 64));
  if (!memory.ok()) return false;
  Context context{workers, memory.value().bytes()};

  std::vector<std::function<void()>> bodies{[&] { variant.run(arguments, context); }};
  bodies[0]();
  for (const GemmPeer& peer : peers) {
    peer.set_threads(workers.count());
    bodies.push_back([&] { peer.multiply(shape, x.data(), weights.data(), theirs.data()); });
    bodies.back()();
    double worst = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      worst = std::max(worst, std::fabs(double{ours[i]} - double{theirs[i]}));
    }
    if (!(worst < 1e-5 * k)) {
      std::printf("%dx%dx%d: results differ from %s by %g: not timed\n", m, n, k, peer.name.c_str(), worst);
      return false;
    }
  }
  const std::vector<std::vector<double>> samples = time_in_rounds(bodies, workers.count() > 1, seconds);
  const double median = quantile(samples[0], 0.5);
  const double rate = 2.0 * m * n * k / median;
  std::printf("%14s %2d %8.1f %5.1f %%",
              (std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k)).c_str(), workers.count(),
              1e-9 * rate, 100 * rate / peak);
  double least = 1e9;
  for (std::size_t peer = 1; peer < samples.size(); ++peer) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < samples[0].size(); ++round) {
      ratios.push_back(samples[peer][round] / samples[0][round]);
    }
    least = std::min(least, quantile(ratios, 0.5));
    std::printf("  %5.2f [%.2f, %.2f]", quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75));
  }
  std::printf("  %5.2f %s  %zu rounds, %s\n", least, least < 1 ? "<" : " ", samples[0].size(),
              std::string(variant.name).c_str());
  std::fflush(stdout);
  return true;
}

bool read(int count, char** words, Options& options) {
  for (int index = 1; index < count; ++index) {
    const std::string word = words[index];
    const char* value = index + 1 < count ? words[index + 1] : "";
    GemmShape shape{};
    if (word == "--code" && (std::strcmp(value, "avx512") == 0 || std::strcmp(value, "avx2") == 0)) {
      options.code = std::strcmp(value, "avx512") == 0 ? PeerCode::avx512 : PeerCode::avx2;
      ++index;
    } else if (word == "--variant" && index + 1 < count) {
      options.forced = {{std::string(Matmul::name), words[++index]}};
    } else if (word == "--threads" && std::atoi(value) > 0) {
      options.threads = {std::atoi(words[++index])};
    } else if (word == "--seconds" && std::atof(value) > 0) {
      options.seconds = std::atof(words[++index]);
    } else if (std::sscanf(words[index], "%dx%dx%d", &shape.rows, &shape.columns, &shape.depth) == 3) {
      options.shapes.push_back(shape);
    } else {
      std::fprintf(
          stderr,
          "expected --code avx512|avx2, --variant, --threads, --seconds or a shape such as 8x4096x4096, found '%s'\n",
          words[index]);
      return false;
    }
  }
  if (options.shapes.empty()) {
    for (int size : {256, 512, 1024, 2048}) options.shapes.push_back({size, size, size});
    for (int rows : {1, 8}) options.shapes.push_back({rows, 4096, 4096});
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  Machine machine = Machine::detect();
  Options options;
  if (machine.features.contains(Feature::avx512)) {
    options.code = PeerCode::avx512;
  } else if (machine.features.contains(Feature::avx2)) {
    options.code = PeerCode::avx2;
  } else if (machine.features.contains(Feature::neon)) {
    options.code = PeerCode::neon;
  }
  if (!read(count, words, options)) return 2;
  if (options.code == PeerCode::avx2) machine.features = machine.features.without({Feature::avx512});
  const std::vector<GemmPeer> peers = load_gemm_peers(options.code);
  for (const GemmPeer& peer : peers) std::printf("%s\n", peer.name.c_str());
  auto table = KernelTable::select(linear_operations(), machine.features, options.forced);
  if (!table.ok()) {
    std::fprintf(stderr, "%s\n", std::string(table.error().text()).c_str());
    return 1;
  }
  std::printf("%14s  threads  GFLOP/s  of peak", "shape");
  for (const GemmPeer& peer : peers) std::printf("  vs %-16.9s", peer.name.c_str());
  std::printf("  least\n");
  bool all = true;
  for (int threads : options.threads) {
    auto workers = Workers::create({.threads = threads});
    if (!workers.ok()) return 1;
    const double peak = measure_peaks(machine, *workers.value()).fma_flops;
    for (const GemmShape& shape : options.shapes) {
      all = compare(peers, table.value(), shape, *workers.value(), peak, options.seconds) && all;
    }
  }
  return all ? 0 : 1;
}
