// Multiplies when told to: the side of bench/bf16_vs_pytorch that is ours.
//
//   bench_matmul_turns TYPE ROWS COLUMNS DEPTH [--threads N] [--variant NAME] [--seconds S]
//   bench_matmul_turns peak [--threads N]
//
// Says which row of linear.matmul it takes; then, for each line that comes in, multiplies for S seconds and prints the
// median of the seconds that a product took. `peak`: what the machine's bf16 instructions do in registers alone, in
// operations a second.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/bf16_peak.h"
#include "bench/neighbours.h"
#include "kernels/contract/run.h"
#include "kernels/linear/family.h"
#include "kernels/linear/matmul/matmul.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "tensor/block_codec.h"

namespace {

using namespace ingot;

struct Options {
  std::vector<std::string> words;
  std::string variant;
  int threads = 1;
  double seconds = 0.5;
};

const Variant<Matmul>* chosen(const KernelTable& table, const Matmul::Arguments& a) {
  for (int index : table.available(Matmul::name)) {
    const Variant<Matmul>& variant = Matmul::variants()[static_cast<std::size_t>(index)];
    if (variant.accepts == nullptr || variant.accepts(a)) return &variant;
  }
  return nullptr;
}

double median_seconds(const Variant<Matmul>& variant, const Matmul::Arguments& a, Context& context, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < 3 || Clock::now() < end) {
    const auto begin = Clock::now();
    variant.run(a, context);
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return BusyNeighbours::median(times);
}

int multiply(const Options& options, DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  const Machine machine = Machine::detect();
  std::vector<ForcedVariant> forced;
  if (!options.variant.empty()) forced.push_back({std::string(Matmul::name), options.variant});
  const Result<KernelTable> table = KernelTable::select(linear_operations(), machine.features, forced);
  const Result<std::unique_ptr<Workers>> workers = Workers::create({.threads = options.threads});
  if (!table.ok() || !workers.ok()) {
    std::fprintf(stderr, "%s\n", table.ok() ? "no workers" : std::string(table.error().text()).c_str());
    return 1;
  }
  const std::int64_t stored = row_bytes(dtype, depth);
  const Result<Memory> weights = Memory::allocate(Bytes(static_cast<std::size_t>(stored * columns)));
  const Result<Memory> x = Memory::allocate(Bytes(static_cast<std::size_t>(rows * depth) * sizeof(float)));
  const Result<Memory> y = Memory::allocate(Bytes(static_cast<std::size_t>(rows * columns) * sizeof(float)));
  if (!weights.ok() || !x.ok() || !y.ok()) return 1;
  RandomNumbers random(7);
  auto* numbers = reinterpret_cast<float*>(x.value().data());
  for (std::int64_t i = 0; i < rows * depth; ++i) numbers[i] = static_cast<float>(2 * random.uniform() - 1);
  for (std::int64_t n = 0; n < columns; ++n) {
    encode_row(dtype, numbers + n % rows * depth, weights.value().data() + n * stored, depth);
  }
  Matmul::Arguments a;
  a.x = View<const float>(numbers, {rows, depth});
  a.weights = ConstAnyView(weights.value().data(), dtype, {columns, depth});
  a.y = View<float>(reinterpret_cast<float*>(y.value().data()), {rows, columns});
  const Variant<Matmul>* variant = chosen(table.value(), a);
  if (variant == nullptr) return 1;
  const std::size_t needed = variant->scratch_bytes == nullptr ? 0 : variant->scratch_bytes(a, options.threads);
  const Result<Memory> scratch = Memory::allocate(Bytes(needed));
  if (!scratch.ok()) return 1;
  Context context{*workers.value(), scratch.value().bytes()};
  variant->run(a, context);
  std::printf("%s\n", std::string(variant->name).c_str());
  std::fflush(stdout);
  for (int character = std::getchar(); character != EOF; character = std::getchar()) {
    if (character != '\n') continue;
    std::printf("%.9f\n", median_seconds(*variant, a, context, options.seconds));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  for (int index = 1; index < argument_count; ++index) {
    const std::string_view argument = arguments[index];
    const bool has_value = index + 1 < argument_count;
    if (argument == "--threads" && has_value) {
      options.threads = std::max(1, std::atoi(arguments[++index]));
    } else if (argument == "--seconds" && has_value) {
      options.seconds = std::atof(arguments[++index]);
    } else if (argument == "--variant" && has_value) {
      options.variant = arguments[++index];
    } else {
      options.words.emplace_back(argument);
    }
  }
  if (options.words.size() == 1 && options.words[0] == "peak") {
    std::printf("%.4g\n", bf16_peak_operations(options.threads));
    return 0;
  }
  const auto dtype = options.words.size() == 4 ? dtype_by_name(options.words[0]) : std::nullopt;
  if (!dtype.has_value()) {
    std::fprintf(stderr, "expected TYPE ROWS COLUMNS DEPTH, or peak\n");
    return 2;
  }
  auto size = [&](std::size_t index) { return std::atoll(options.words[index].c_str()); };
  return multiply(options, *dtype, size(1), size(2), size(3));
}
