// How fast does linear.int8_matmul multiply bytes, each variant that this machine runs?
//
//   bench_int8_products [--threads N] [--seconds S] [--variant NAME | --best] [ROWSxCOLUMNSxDEPTH...]
//
// Prints one JSON object a line: shape, variant, median seconds of a call with its spread, operations (a multiply and
// an add are two) and bytes of weights a second. Calls take turns among copies of the weights that fill no cache
// together, as the layers of a model do. bench/int8_vs_pytorch runs it beside PyTorch.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/units.h"
#include "bench/words.h"
#include "kernels/linear/int8/int8_matmul.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "profile/statistics.h"

namespace {

using namespace ingot;

struct ProductShape {
  int rows, columns, depth;
};

struct Options {
  int threads = 1;
  double seconds = 1;
  std::string variant;
  bool best_only = false;  // the first that takes the shape, as the plan would choose it
  std::vector<ProductShape> shapes;
};

constexpr std::size_t beyond_caches = std::size_t{160} << 20;

Result<Memory> codes(std::size_t count, unsigned state) {
  auto memory = Memory::allocate(Bytes(count));
  if (memory.ok()) {
    for (std::byte& code : memory.value().bytes()) {
      code = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
    }
  }
  return memory;
}

double seconds_of(const Variant<Int8Matmul>& variant, const Int8Matmul::Arguments& arguments, Context& context) {
  const auto begin = std::chrono::steady_clock::now();
  variant.run(arguments, context);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool time_shape(const ProductShape& shape, const Options& options, const Machine& machine, Workers& workers) {
  const auto [m, n, k] = shape;
  const auto size = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  const std::size_t copies = std::max<std::size_t>(1, beyond_caches / size(n, k));
  const auto x = codes(size(m, k), 1), weights = codes(copies * size(n, k), 2);
  if (!x.ok() || !weights.ok()) return false;
  const std::vector<float> x_scales(static_cast<std::size_t>(m), 0.01f);
  const std::vector<float> weight_scales(static_cast<std::size_t>(n), 0.02f);
  const std::vector<std::int32_t> x_zeros(static_cast<std::size_t>(m), 3);
  std::vector<float> y(size(m, n));
  Int8Matmul::Arguments a;
  a.x = ConstAnyView(x.value().data(), DType::i8, {m, k});
  a.weights = ConstAnyView(weights.value().data(), DType::i8, {n, k});
  a.x_scale = View<const float>(x_scales.data(), {m});
  a.weight_scale = View<const float>(weight_scales.data(), {n});
  a.x_zero = View<const std::int32_t>(x_zeros.data(), {m});
  a.y = View<float>(y.data(), {m, n});
  for (const Variant<Int8Matmul>& variant : Int8Matmul::variants()) {
    if (variant.run == nullptr || !machine.features.contains_all(variant.needs) || variant.name == "reference")
      continue;
    if ((variant.accepts != nullptr && !variant.accepts(a)) ||
        (!options.variant.empty() && variant.name != options.variant))
      continue;
    auto scratch = Memory::allocate(Bytes(variant.scratch_bytes(a, options.threads)));
    if (!scratch.ok()) return false;
    Context context{workers, scratch.value().bytes()};
    std::vector<double> samples;
    double spent = 0;
    for (std::size_t call = 0; call < 4 || spent < options.seconds; ++call) {
      a.weights = ConstAnyView(weights.value().data() + call % copies * size(n, k), DType::i8, {n, k});
      const double seconds = seconds_of(variant, a, context);
      spent += seconds;
      if (call > 0) samples.push_back(seconds);
    }
    const Summary summary = summarise(samples);
    std::printf(
        "{\"shape\": \"%dx%dx%d\", \"threads\": %d, \"variant\": \"%s\", \"seconds\": %.4g, \"spread\": %.3f, "
        "\"gops\": %.1f, \"weight_gb_s\": %.2f}\n",
        m, n, k, options.threads, std::string(variant.name).c_str(), summary.median, summary.spread,
        2e-9 * static_cast<double>(size(m, n)) * k / summary.median,
        1e-9 * static_cast<double>(size(n, k)) / summary.median);
    std::fflush(stdout);
    if (options.best_only) break;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  for (Words words(count, arguments); words.next();) {
    ProductShape shape;
    if (words.take("--threads", options.threads) || words.take("--seconds", options.seconds) ||
        words.take("--variant", options.variant) || words.take("--best", options.best_only)) {
      continue;
    }
    if (std::sscanf(words.word(), "%dx%dx%d", &shape.rows, &shape.columns, &shape.depth) != 3) {
      return words.complain("--threads, --seconds, --variant, --best or ROWSxCOLUMNSxDEPTH");
    }
    options.shapes.push_back(shape);
  }
  if (options.shapes.empty()) options.shapes = {{1, 4096, 4096}, {512, 4096, 4096}, {1024, 1024, 1024}};
  const Machine machine = Machine::detect();
  auto workers = Workers::create({.threads = options.threads});
  if (!workers.ok()) return 1;
  for (const ProductShape& shape : options.shapes) {
    if (!time_shape(shape, options, machine, *workers.value())) return 1;
  }
  return 0;
}
