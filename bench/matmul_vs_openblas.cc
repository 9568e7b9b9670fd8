// How fast is linear.matmul next to OpenBLAS, on the same threads, in one run?
//
//   matmul_vs_openblas [--library libopenblas.so.0] [--variant NAME] [--seconds S] [SIZE...]
//
// For each size and thread count both libraries multiply the same matrices (y = x W^T) in turn, so that whatever else
// the machine does falls on both. The figures are medians; the ratio is OpenBLAS's time over ours, with the quartiles
// of the ratios of neighbouring pairs. Results are compared before anything is timed. OpenBLAS is found at run time:
// the build does not need it. Where it does not know the CPU it falls back to its oldest kernels, so on a machine with
// AVX-512 it is told to use its best ones (OPENBLAS_CORETYPE, if set, stands); the first line says which it took.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/contract/run.h"
#include "kernels/linear/family.h"
#include "kernels/linear/matmul.h"
#include "machine/machine.h"
#include "machine/memory.h"

namespace {

using namespace ingot;

struct OpenBlas {
  // CBLAS: order, transpose a, transpose b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
  void (*sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                int) = nullptr;
  void (*set_num_threads)(int) = nullptr;
  char* (*get_config)() = nullptr;

  bool load(const char* library) {
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::fprintf(stderr, "expected a loadable OpenBLAS, found: %s\n", dlerror());
      return false;
    }
    sgemm = reinterpret_cast<decltype(sgemm)>(dlsym(handle, "cblas_sgemm"));
    set_num_threads = reinterpret_cast<decltype(set_num_threads)>(dlsym(handle, "openblas_set_num_threads"));
    get_config = reinterpret_cast<decltype(get_config)>(dlsym(handle, "openblas_get_config"));
    return sgemm != nullptr && set_num_threads != nullptr && get_config != nullptr;
  }
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

template <class Body>
double seconds(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Options {
  const char* library = "libopenblas.so.0";
  std::string variant;
  double seconds = 4;
  std::vector<int> sizes;
};

bool compare(const OpenBlas& openblas, const KernelTable& table, const Options& options, int size, int threads) {
  const auto count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<float> x(count), weights(count), theirs(count), ours(count);
  unsigned state = 1;
  for (std::vector<float>* values : {&x, &weights}) {
    for (float& value : *values)
      value = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1;
  }
  const Shape shape{size, size};
  Matmul::Arguments arguments;
  arguments.x = View<const float>(x.data(), shape);
  arguments.weights = View<const float>(weights.data(), shape);
  arguments.y = View<float>(ours.data(), shape);

  auto workers = Workers::create({.threads = threads});
  if (!workers.ok()) return false;
  const Variant<Matmul>* chosen = nullptr;
  for (int index : table.available(Matmul::name)) {
    const Variant<Matmul>& variant = Matmul::variants()[static_cast<std::size_t>(index)];
    if (chosen == nullptr && (variant.accepts == nullptr || variant.accepts(arguments))) chosen = &variant;
  }
  auto memory = Memory::allocate(Bytes(chosen->scratch_bytes ? chosen->scratch_bytes(arguments, threads) : 1));
  if (!memory.ok()) return false;
  Context context{*workers.value(), {memory.value().data(), memory.value().size()}};

  openblas.set_num_threads(threads);
  auto run_theirs = [&] {
    constexpr int row_major = 101, plain = 111, transposed = 112;
    openblas.sgemm(row_major, plain, transposed, size, size, size, 1, x.data(), size, weights.data(), size, 0,
                   theirs.data(), size);
  };
  auto run_ours = [&] { chosen->run(arguments, context); };

  run_theirs();
  run_ours();
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::fabs(double{ours[i]} - double{theirs[i]}));
  if (!(worst < 1e-5 * size)) {
    std::printf("%5d  results differ by %g: not timed\n", size, worst);
    return false;
  }

  std::vector<double> our_times, their_times, ratios;
  double spent = 0;
  while (spent < options.seconds || ratios.size() < 7) {
    // Who goes first alternates: the second finds the operands warm.
    const bool first = ratios.size() % 2 == 0;
    const double one = first ? seconds(run_ours) : seconds(run_theirs);
    const double other = first ? seconds(run_theirs) : seconds(run_ours);
    our_times.push_back(first ? one : other);
    their_times.push_back(first ? other : one);
    ratios.push_back(their_times.back() / our_times.back());
    spent += one + other;
  }
  const double operations = 2.0 * size * size * size;
  const double ours_median = quantile(our_times, 0.5);
  const double theirs_median = quantile(their_times, 0.5);
  std::printf("%5d %8d  %9.3f ms %8.1f GFLOP/s  %9.3f ms %8.1f GFLOP/s  %6.3f [%.3f, %.3f]  %7.3f  %5zu  %s\n", size,
              threads, 1e3 * ours_median, 1e-9 * operations / ours_median, 1e3 * theirs_median,
              1e-9 * operations / theirs_median, quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75),
              quantile(their_times, 0) / quantile(our_times, 0), ratios.size(), std::string(chosen->name).c_str());
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  for (int index = 1; index < argument_count; ++index) {
    if (std::strcmp(arguments[index], "--library") == 0 && index + 1 < argument_count) {
      options.library = arguments[++index];
    } else if (std::strcmp(arguments[index], "--variant") == 0 && index + 1 < argument_count) {
      options.variant = arguments[++index];
    } else if (std::strcmp(arguments[index], "--seconds") == 0 && index + 1 < argument_count) {
      options.seconds = std::atof(arguments[++index]);
    } else if (const int size = std::atoi(arguments[index]); size > 0) {
      options.sizes.push_back(size);
    } else {
      std::fprintf(stderr, "expected --library, --variant, --seconds or a size, found '%s'\n", arguments[index]);
      return 2;
    }
  }
  if (options.sizes.empty()) options.sizes = {512, 1024, 2048};
  const Machine machine = Machine::detect();
  if (machine.features.contains(Feature::avx512)) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  OpenBlas openblas;
  if (!openblas.load(options.library)) return 1;
  std::vector<ForcedVariant> forced;
  if (!options.variant.empty()) forced.push_back({std::string(Matmul::name), options.variant});
  auto table = KernelTable::select(linear_operations(), machine.features, forced);
  if (!table.ok()) {
    std::fprintf(stderr, "%s\n", std::string(table.error().text()).c_str());
    return 1;
  }
  std::printf("%s\n", openblas.get_config());
  std::printf(
      " size  threads  ingot                            OpenBLAS                         ratio [quartiles]      "
      "fastest  pairs  variant\n");
  bool all = true;
  for (int size : options.sizes) {
    for (int threads : {1, 2}) all = compare(openblas, table.value(), options, size, threads) && all;
  }
  return all ? 0 : 1;
}
