// How fast is linear.matmul next to llama.cpp's CPU backend, for every weight format, on the same threads, in one run?
//
//   bench_quantized_vs_llamacpp LLAMA_CPP/build/bin [--threads N] [--seconds S] [--type q4_0] [--rows 1] [--cached]
//   [--packed] [--avx2]
//
// Both multiply the same weights with the same x, in turn; results are compared before anything is timed. With few rows
// there are as many matrices as it takes to pass the last-level cache (--cached: one). llama.cpp keeps the weights in
// each of its layouts that supports the product; the fastest counts, and is named. Ours lie as a file stores them;
// --packed: interleaved, where the format has that layout. --avx2: ours do without what later processors than those
// with AVX2 have, for a llama.cpp that was built so.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/random.h"
#include "bench/ggml_peer.h"
#include "bench/neighbours.h"
#include "bench/own_thread.h"
#include "bench/words.h"
#include "kernels/all_operations.h"
#include "kernels/contract/run.h"
#include "kernels/linear/matmul/matmul.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/peaks.h"
#include "model/files/ggml_types.h"
#include "tensor/block_codec.h"
#include "tensor/interleaved.h"

namespace {

using namespace ingot;

constexpr DType types[] = {DType::q4_0,   DType::q4_1,    DType::q5_0,   DType::q5_1,  DType::q8_0,    DType::q2_k,
                           DType::q3_k,   DType::q4_k,    DType::q5_k,   DType::q6_k,  DType::iq4_nl,  DType::mxfp4,
                           DType::f16,    DType::bf16,    DType::iq4_xs, DType::iq3_s, DType::iq3_xxs, DType::iq2_s,
                           DType::iq2_xs, DType::iq2_xxs, DType::iq1_m,  DType::iq1_s, DType::tq2_0,   DType::tq1_0};

struct ProductShape {
  std::int64_t rows;  // of x
  std::int64_t columns;
  std::int64_t depth;
};
constexpr ProductShape shapes[] = {{1, 4096, 4096}, {1, 2048, 8192}, {2, 4096, 4096},  {3, 4096, 4096},
                                   {4, 4096, 4096}, {8, 4096, 4096}, {16, 4096, 4096}, {512, 4096, 4096}};
constexpr std::int64_t few_rows = 16;

struct Options {
  std::string folder;
  std::string type;
  std::int64_t rows = 0;  // 0: all
  int threads = 1;
  double seconds = 2;
  bool cached = false;
  bool packed = false;
  bool avx2 = false;
};

struct Setting {
  const Ggml& ggml;
  const KernelTable& table;
  const Options& options;
  Workers& workers;
  double read_bytes_per_second;
  std::uint64_t last_level_cache;
};

// Theirs: the product with each of the matrices, a node each, in one graph.
class TheirProducts {
 public:
  TheirProducts(const Ggml& ggml, void* buffer_type, DType dtype, const ProductShape& shape, int matrices, int threads)
      : ggml_(ggml) {
    const int type = find_ggml_type(dtype)->number;
    weights_context_ = ggml.init({1 << 20, nullptr, true});
    context_ = ggml.init({1 << 20, nullptr, true});
    x_ = ggml.new_tensor_4d(context_, 0, shape.depth, shape.rows, 1, 1);
    graph_ = ggml.new_graph(context_);
    for (int i = 0; i < matrices; ++i) {
      weights_.push_back(ggml.new_tensor_4d(weights_context_, type, shape.depth, shape.columns, 1, 1));
      nodes_.push_back(ggml.mul_mat(context_, weights_.back(), x_));
      ggml.build_forward_expand(graph_, nodes_.back());
    }
    buffers_.push_back(ggml.allocate_tensors(weights_context_, buffer_type));
    buffers_.push_back(ggml.allocate_tensors(context_, ggml.default_buffer_type()));
    backend_ = ggml.cpu_init();
    ggml.cpu_set_n_threads(backend_, threads);
  }
  TheirProducts(const TheirProducts&) = delete;
  TheirProducts& operator=(const TheirProducts&) = delete;
  ~TheirProducts() {
    for (void* buffer : buffers_) {
      if (buffer != nullptr) ggml_.buffer_free(buffer);
    }
    ggml_.free(context_);
    ggml_.free(weights_context_);
  }

  // Whether the layout of the buffer type can multiply these.
  bool is_supported() const {
    void* device = ggml_.registry_device(ggml_.cpu_registry(), 0);
    return buffers_[0] != nullptr && buffers_[1] != nullptr && ggml_.device_supports(device, nodes_[0]);
  }
  void fill(const std::vector<float>& x, std::span<const std::byte> matrix) {
    ggml_.tensor_set(x_, x.data(), 0, 4 * x.size());
    for (void* weights : weights_) ggml_.tensor_set(weights, matrix.data(), 0, matrix.size());
  }
  void run() {
    thread_.run([this] { ggml_.graph_compute(backend_, graph_); });
  }
  const float* result() const { return static_cast<const float*>(ggml_.get_data(nodes_.back())); }

 private:
  const Ggml& ggml_;
  void* weights_context_;
  void* context_;
  void* graph_;
  void* x_;
  void* backend_;
  std::vector<void*> weights_, nodes_, buffers_;
  OwnThread thread_;
};

std::string variant_of(const KernelTable& table, const Matmul::Arguments& a, int threads, std::size_t& scratch) {
  for (int index : table.available(Matmul::name)) {
    const Variant<Matmul>& variant = Matmul::variants()[static_cast<std::size_t>(index)];
    if (variant.accepts != nullptr && !variant.accepts(a)) continue;
    scratch = variant.scratch_bytes == nullptr ? 0 : variant.scratch_bytes(a, threads);
    return std::string(variant.name);
  }
  return "";
}

double largest_difference(const float* a, const float* b, std::int64_t count) {
  double difference = 0;
  double largest = 1e-30;
  for (std::int64_t i = 0; i < count; ++i) {
    difference = std::max(difference, std::fabs(double{a[i]} - b[i]));
    largest = std::max(largest, std::fabs(double{b[i]}));
  }
  return difference / largest;
}

void print_row(const Setting& setting, DType dtype, const ProductShape& shape, int matrices, double matrix_bytes,
               const std::string& variant, const std::string& theirs_in, const BusyNeighbours& times) {
  const double ours = BusyNeighbours::median(times.ours) / matrices;
  const double theirs = BusyNeighbours::median(times.theirs) / matrices;
  const std::vector<double> ratios = times.ratios();
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.columns * shape.depth);
  std::printf("%-7s %4lld x %5lld x %5lld | %9.1f us %7.1f GFLOP/s", std::string(name_of(dtype)).c_str(),
              static_cast<long long>(shape.rows), static_cast<long long>(shape.columns),
              static_cast<long long>(shape.depth), 1e6 * ours, 1e-9 * operations / ours);
  if (shape.rows == 1) {
    std::printf(" %5.1f GB/s %3.0f%%", 1e-9 * matrix_bytes / ours,
                100 * matrix_bytes / ours / setting.read_bytes_per_second);
  }
  std::printf(" | %9.1f us %s | %5.2f [%.2f, %.2f] %s\n", 1e6 * theirs, theirs_in.c_str(),
              BusyNeighbours::median(ratios), *std::ranges::min_element(ratios), *std::ranges::max_element(ratios),
              variant.c_str());
  std::fflush(stdout);
}

// Any codes under a scale of 2^-8, of formats that numbers cannot be encoded to.
void make_blocks(DType dtype, RandomNumbers& random, std::byte* target, std::int64_t depth) {
  for (std::int64_t i = 0; i < row_bytes(dtype, depth); ++i) target[i] = static_cast<std::byte>(random.next());
  for (std::int64_t b = 0; b < depth / 256; ++b) {
    auto* block = reinterpret_cast<std::uint8_t*>(target) + b * block_bytes(dtype);
    const std::uint8_t half[2] = {0, 0x1c};
    if (dtype != DType::iq1_m) {
      std::memcpy(block, half, sizeof(half));
      continue;
    }
    for (int i = 0; i < 4; ++i) {  // four bits in the upper half of each second byte of the last eight
      std::uint8_t& byte = block[49 + 2 * i];
      byte = static_cast<std::uint8_t>((byte & 15) | (half[i / 2] >> 4 * (i % 2) & 15) << 4);
    }
  }
}

bool compare(const Setting& setting, DType dtype, const ProductShape& shape) {
  const auto bytes = static_cast<std::size_t>(row_bytes(dtype, shape.depth) * shape.columns);
  const bool streams = shape.rows <= few_rows && !setting.options.cached;
  const std::uint64_t wanted = std::min<std::uint64_t>(2 * setting.last_level_cache, std::uint64_t{1} << 30);
  const int matrices = streams ? static_cast<int>(std::clamp<std::uint64_t>(wanted / bytes, 1, 100)) : 1;

  RandomNumbers random(7);
  std::vector<float> x(static_cast<std::size_t>(shape.rows * shape.depth));
  for (float& value : x) value = static_cast<float>(random.normal());
  std::vector<float> row(static_cast<std::size_t>(shape.depth));
  const Result<Memory> memory = Memory::allocate(Bytes(bytes * static_cast<std::size_t>(matrices)));
  if (!memory.ok()) return false;
  for (std::int64_t n = 0; n < shape.columns; ++n) {  // 64 different rows are enough to compare by
    std::byte* target = memory.value().data() + n * row_bytes(dtype, shape.depth);
    if (n >= 64) {
      std::memcpy(target, target - 64 * row_bytes(dtype, shape.depth),
                  static_cast<std::size_t>(row_bytes(dtype, shape.depth)));
      continue;
    }
    if (!has_encoder(dtype)) {
      make_blocks(dtype, random, target, shape.depth);
      continue;
    }
    for (float& value : row) value = static_cast<float>(random.normal());
    encode_row(dtype, row.data(), target, shape.depth);
  }
  for (int i = 1; i < matrices; ++i) {
    std::memcpy(memory.value().data() + static_cast<std::size_t>(i) * bytes, memory.value().data(), bytes);
  }

  const bool packed = setting.options.packed && can_interleave(dtype);
  const Result<Memory> packed_memory = Memory::allocate(Bytes(packed ? memory.value().size() : 0));
  if (!packed_memory.ok()) return false;
  if (packed) {
    const Shape all = {shape.columns * matrices, shape.depth};
    interleave_rows(ConstAnyView(memory.value().data(), dtype, all), 0, all[0],
                    AnyView(packed_memory.value().data(), dtype, all));
  }
  const std::byte* ours = (packed ? packed_memory : memory).value().data();
  std::vector<float> y(static_cast<std::size_t>(shape.rows * shape.columns));
  auto arguments = [&](int matrix) {
    Matmul::Arguments a;
    a.x = View<const float>(x.data(), {shape.rows, shape.depth});
    a.weights = ConstAnyView(ours + static_cast<std::size_t>(matrix) * bytes, dtype, {shape.columns, shape.depth});
    if (packed) a.layout = WeightLayout::interleaved8;
    a.y = View<float>(y.data(), {shape.rows, shape.columns});
    return a;
  };
  std::size_t scratch_bytes = 0;
  const std::string variant = variant_of(setting.table, arguments(0), setting.options.threads, scratch_bytes);
  const Result<Memory> scratch = Memory::allocate(Bytes(scratch_bytes));
  if (!scratch.ok()) return false;
  Context context{setting.workers, scratch.value().bytes()};
  auto run_ours = [&] {
    for (int i = 0; i < matrices; ++i) {
      const Result<void> done = run<Matmul>(setting.table, arguments(i), context);
      if (!done.ok()) std::fprintf(stderr, "%s\n", std::string(done.error().text()).c_str());
    }
  };
  run_ours();

  // The fastest of their layouts, found by one round each.
  void* best_type = nullptr;
  double best = 0;
  for (void* type : setting.ggml.weight_buffer_types()) {
    TheirProducts theirs(setting.ggml, type, dtype, shape, matrices, setting.options.threads);
    if (!theirs.is_supported()) continue;
    theirs.fill(x, {memory.value().data(), bytes});
    theirs.run();
    // Both round activations to 8 bits, in blocks and scales of their own.
    const double difference = largest_difference(theirs.result(), y.data(), static_cast<std::int64_t>(y.size()));
    if (!(difference < 0.03)) {
      std::printf("%s: results differ by %g of the largest: not timed\n", std::string(name_of(dtype)).c_str(),
                  difference);
      return false;
    }
    const BusyNeighbours times = run_in_turn([] {}, [&] { theirs.run(); }, 0);
    const double seconds = BusyNeighbours::median(times.theirs);
    if (best_type == nullptr || seconds < best) {
      best_type = type;
      best = seconds;
    }
  }
  if (best_type == nullptr) return false;
  TheirProducts theirs(setting.ggml, best_type, dtype, shape, matrices, setting.options.threads);
  theirs.fill(x, {memory.value().data(), bytes});
  theirs.run();
  const BusyNeighbours times = run_in_turn(run_ours, [&] { theirs.run(); }, setting.options.seconds);
  print_row(setting, dtype, shape, matrices, static_cast<double>(bytes), variant,
            setting.ggml.buffer_type_name(best_type), times);
  return true;
}

int compare_all(const Ggml& ggml, const Options& options) {
  Machine machine = Machine::detect();
  if (options.avx2) machine.features = {Feature::sse4, Feature::avx2};
  const Result<KernelTable> table = KernelTable::select(all_operations(), machine.features);
  const Result<std::unique_ptr<Workers>> workers = Workers::create({.threads = options.threads});
  if (!table.ok() || !workers.ok()) return 1;
  const Peaks peaks = measure_peaks(machine, *workers.value());
  const Setting setting{
      ggml, table.value(), options, *workers.value(), peaks.read_bytes_per_second, machine.last_level_cache().count()};
  std::printf("%d threads; memory reads %.1f GB/s; ours | llama.cpp's | their time over ours [least, greatest]\n",
              options.threads, 1e-9 * peaks.read_bytes_per_second);
  bool all = true;
  for (const DType dtype : types) {
    if (!options.type.empty() && options.type != name_of(dtype)) continue;
    for (const ProductShape& shape : shapes) {
      if (options.rows != 0 && options.rows != shape.rows) continue;
      all = compare(setting, dtype, shape) && all;
    }
  }
  return all ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  for (Words words(argument_count, arguments); words.next();) {
    if (words.take("--threads", options.threads) || words.take("--seconds", options.seconds) ||
        words.take("--type", options.type) || words.take("--rows", options.rows) ||
        words.take("--cached", options.cached) || words.take("--packed", options.packed) ||
        words.take("--avx2", options.avx2) || words.take_plain(options.folder)) {
      continue;
    }
    return words.complain("LLAMA_CPP/build/bin, --threads, --seconds, --type, --rows, --cached, --packed or --avx2");
  }
  Ggml ggml;
  return ggml.load(options.folder) ? compare_all(ggml, options) : 1;
}
