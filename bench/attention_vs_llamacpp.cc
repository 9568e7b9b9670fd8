// How fast are attention.decode and attention.prefill next to llama.cpp's flash attention, on the same threads, in one
// run, and how near are they to what memory can deliver?
//
//   bench_attention_vs_llamacpp LLAMA_CPP/build/bin [--threads N] [--seconds S] [--variant NAME] [--only TEXT]
//
// Both read the very same keys and values, [head][token][dim], in turn; results are compared before anything is timed.
// Single new tokens read as many caches as it takes to pass the last-level cache, as the layers of a model do. Figures
// are medians; the ratio is their time over ours, with the least and the greatest of the ratios of neighbours in time.
// What is asked of a shape stands behind it.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/random.h"
#include "bench/ggml_peer.h"
#include "bench/neighbours.h"
#include "bench/words.h"
#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/prefill.h"
#include "kernels/attention/family.h"
#include "kernels/contract/operation.h"
#include "kernels/contract/run.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/peaks.h"
#include "tensor/block_codec.h"

namespace {

using namespace ingot;

struct AttentionShape {
  const char* name;
  std::int64_t tokens;  // new ones, of one sequence
  std::int64_t length;  // of the sequence, the new ones included
  std::int64_t heads;
  std::int64_t key_heads;
  std::int64_t dimensions;
  DType dtype;
  double percent_asked = 0;  // of the bandwidth of reading memory
  double ratio_asked = 0;
  std::int64_t window = 0;

  KeyRange seen_by(std::int64_t token) const {
    return visible_keys(MaskKind::causal, window, length - tokens + token, length);
  }
};

constexpr AttentionShape shapes[] = {
    {"decode 8k, GQA 1, f16", 1, 8192, 32, 32, 128, DType::f16, 60},
    {"decode 8k, GQA 4, f16", 1, 8192, 32, 8, 128, DType::f16, 45},
    {"decode 8k, GQA 1, q8_0", 1, 8192, 32, 32, 128, DType::q8_0},
    {"decode 8k, GQA 4, q8_0", 1, 8192, 32, 8, 128, DType::q8_0},
    {"decode 8k, GQA 4, f16, window of 1k", 1, 8192, 32, 8, 128, DType::f16, 0, 0, 1024},
    {"decode 8k, GQA 1, 64 wide, f16", 1, 8192, 32, 32, 64, DType::f16},
    {"decode 8k, GQA 4, 64 wide, f16", 1, 8192, 32, 8, 64, DType::f16},
    {"decode 8k, GQA 1, 64 wide, q8_0", 1, 8192, 32, 32, 64, DType::q8_0},
    {"decode 8k, GQA 4, 64 wide, q8_0", 1, 8192, 32, 8, 64, DType::q8_0},
    {"decode 8k, one key head, f16", 1, 8192, 4, 1, 128, DType::f16},
    {"decode 4k, 9 heads of 64, f16", 1, 4096, 9, 3, 64, DType::f16},
    {"prefill 512 at 4k, GQA 4, f16", 512, 4096, 16, 4, 128, DType::f16, 0, 2},
    {"prefill 512 at 4k, GQA 1, f16", 512, 4096, 8, 8, 128, DType::f16, 0, 2},
    {"prefill 512 at 4k, GQA 4, 64 wide, f16", 512, 4096, 16, 4, 64, DType::f16, 0, 2},
    {"prefill 512 at 4k, GQA 1, 64 wide, f16", 512, 4096, 8, 8, 64, DType::f16, 0, 2},
    {"prefill 512 at 4k, GQA 4, q8_0", 512, 4096, 16, 4, 128, DType::q8_0, 0, 2},
    {"prefill 512 at 512, GQA 4, f16", 512, 512, 16, 4, 128, DType::f16},
    {"prefill 512 at 4k, GQA 4, f16, window of 1k", 512, 4096, 16, 4, 128, DType::f16, 0, 0, 1024},
    {"prefill 512 at 1k, 9 heads of 64, f16", 512, 1024, 9, 3, 64, DType::f16},
};

struct Options {
  std::string folder;
  std::string variant;
  std::string only;
  int threads = 1;
  double seconds = 3;
};

struct Setting {
  const Ggml& ggml;
  const KernelTable& table;
  const Options& options;
  Workers& workers;
  Peaks peaks;
  std::uint64_t last_level_cache;
};

// Theirs: a node for each of the caches, in one graph. The context owns queries, keys, values and results.
struct TheirAttention {
  const Ggml& ggml;
  Memory memory;  // the context's, on huge pages where there are: as a cache of the engine's lies
  void* context;
  void* graph;
  void* backend;
  void* q;
  void* mask;
  std::vector<void*> keys, values, nodes;

  TheirAttention(const Ggml& peer, const AttentionShape& shape, int caches, float scale, int threads, Memory room)
      : ggml(peer), memory(std::move(room)) {
    context = ggml.init({memory.size(), memory.data(), false});
    const int type = shape.dtype == DType::f16 ? 1 : 8;
    q = ggml.new_tensor_4d(context, 0, shape.dimensions, shape.tokens, shape.heads, 1);
    mask = ggml.new_tensor_4d(context, 1, shape.length, shape.tokens, 1, 1);
    graph = ggml.new_graph(context);
    for (int i = 0; i < caches; ++i) {
      keys.push_back(ggml.new_tensor_4d(context, type, shape.dimensions, shape.length, shape.key_heads, 1));
      values.push_back(ggml.new_tensor_4d(context, type, shape.dimensions, shape.length, shape.key_heads, 1));
      nodes.push_back(ggml.flash_attn_ext(context, q, keys.back(), values.back(), mask, scale, 0, 0));
      ggml.flash_attn_ext_set_prec(nodes.back(), 10);  // f32, as llama.cpp asks for
      ggml.build_forward_expand(graph, nodes.back());
    }
    backend = ggml.cpu_init();
    ggml.cpu_set_n_threads(backend, threads);
  }
  static Bytes bytes_for(const AttentionShape& shape, int caches) {
    const auto row = static_cast<std::int64_t>(row_bytes(shape.dtype, shape.dimensions));
    const std::int64_t cache_bytes = 2 * shape.length * shape.key_heads * row;
    const std::int64_t numbers = shape.tokens * shape.heads * shape.dimensions;
    const std::int64_t room = 16 << 20;  // for the graph and what describes tensors
    return Bytes(static_cast<std::uint64_t>(caches * (cache_bytes + 4 * numbers) + 4 * numbers +
                                            2 * shape.tokens * shape.length + room));
  }
  TheirAttention(const TheirAttention&) = delete;
  TheirAttention& operator=(const TheirAttention&) = delete;
  ~TheirAttention() { ggml.free(context); }

  template <class Element>
  Element* data(void* tensor) const {
    return static_cast<Element*>(ggml.get_data(tensor));
  }

  void fill(const AttentionShape& shape) {
    RandomNumbers random(7);
    auto* queries = data<float>(q);
    const std::int64_t numbers = shape.tokens * shape.heads * shape.dimensions;
    for (std::int64_t i = 0; i < numbers; ++i) queries[i] = 2 * static_cast<float>(random.normal());
    auto* seen = data<std::uint16_t>(mask);
    constexpr std::uint16_t minus_infinity = 0xfc00;
    for (std::int64_t i = 0; i < shape.tokens; ++i) {
      const KeyRange range = shape.seen_by(i);
      for (std::int64_t j = 0; j < shape.length; ++j) {
        seen[i * shape.length + j] = j >= range.begin && j < range.end ? 0 : minus_infinity;
      }
    }
    const auto row = static_cast<std::size_t>(row_bytes(shape.dtype, shape.dimensions));
    const auto rows = static_cast<std::size_t>(shape.length * shape.key_heads);
    constexpr std::size_t different_rows = 1000;  // are enough to compare by
    std::vector<float> numbers_of_row(static_cast<std::size_t>(shape.dimensions));
    for (const auto& tensors : {keys, values}) {
      auto* first = data<std::byte>(tensors[0]);
      for (std::size_t i = 0; i < std::min(rows, different_rows); ++i) {
        for (float& number : numbers_of_row) number = static_cast<float>(random.normal());
        encode_row(shape.dtype, numbers_of_row.data(), first + i * row, shape.dimensions);
      }
      for (std::size_t i = different_rows; i < rows; ++i) {
        std::memcpy(first + i * row, first + (i - different_rows) * row, row);
      }
      for (void* tensor : tensors) std::memmove(data<std::byte>(tensor), first, rows * row);
    }
  }
};

void print_row(const Setting& setting, const AttentionShape& shape, int caches, const Cost& cost,
               const std::string& variant, const BusyNeighbours& times) {
  const double ours = BusyNeighbours::median(times.ours) / caches;
  const double theirs = BusyNeighbours::median(times.theirs) / caches;
  const std::vector<double> ratios = times.ratios();
  std::printf("%-44s %8.2f ms %6.1f GFLOP/s", shape.name, 1e3 * ours, 1e-9 * cost.operations / ours);
  if (shape.tokens == 1) {
    std::printf(" %5.1f GB/s %3.0f%% of reading", 1e-9 * cost.bytes_read / ours,
                100 * cost.bytes_read / ours / setting.peaks.read_bytes_per_second);
  } else {
    std::printf(" %3.0f%% of multiply-add", 100 * cost.operations / ours / setting.peaks.fma_flops);
  }
  std::printf(" | %8.2f ms | %5.2f [%.2f, %.2f] %s", 1e3 * theirs, BusyNeighbours::median(ratios),
              *std::ranges::min_element(ratios), *std::ranges::max_element(ratios), variant.c_str());
  if (shape.percent_asked > 0) std::printf("; asked: %.0f%%", shape.percent_asked);
  if (shape.ratio_asked > 0) std::printf("; asked: %.1f", shape.ratio_asked);
  std::printf("\n");
  std::fflush(stdout);
}

// The row of the table that a call takes, and the scratch memory it wants.
template <class Op>
std::string variant_of(const KernelTable& table, const typename Op::Arguments& a, int threads, std::size_t& scratch) {
  for (int index : table.available(Op::name)) {
    const Variant<Op>& variant = Op::variants()[static_cast<std::size_t>(index)];
    if (variant.accepts != nullptr && !variant.accepts(a)) continue;
    scratch = variant.scratch_bytes == nullptr ? 0 : variant.scratch_bytes(a, threads);
    return std::string(variant.name);
  }
  return "";
}

template <class Op>
bool compare(const Setting& setting, const AttentionShape& shape) {
  const auto row = static_cast<std::uint64_t>(row_bytes(shape.dtype, shape.dimensions));
  const std::uint64_t bytes = 2 * static_cast<std::uint64_t>(shape.length * shape.key_heads) * row;
  const std::uint64_t wanted = shape.tokens == 1 ? 2 * setting.last_level_cache : 0;
  const int caches = static_cast<int>(std::clamp<std::uint64_t>(divide_rounding_up(wanted, bytes), 1, 100));
  const float scale = 1 / std::sqrt(static_cast<float>(shape.dimensions));
  Result<Memory> room = Memory::allocate(TheirAttention::bytes_for(shape, caches));
  if (!room.ok()) return false;
  TheirAttention theirs(setting.ggml, shape, caches, scale, setting.options.threads, std::move(room).value());
  theirs.fill(shape);

  const std::int64_t numbers = shape.tokens * shape.heads * shape.dimensions;
  std::vector<float> y(static_cast<std::size_t>(numbers));
  const std::int32_t page = 0;
  const auto length = static_cast<std::int32_t>(shape.length);
  const std::int32_t run_begins[] = {0, static_cast<std::int32_t>(shape.tokens)};
  auto arguments = [&](std::size_t cache) {
    const Shape pages_shape{1, shape.key_heads, shape.length, shape.dimensions};
    typename Op::Arguments a;
    a.q = View<const float>(theirs.data<float>(theirs.q), {shape.tokens, shape.heads, shape.dimensions},
                            {shape.dimensions, shape.tokens * shape.dimensions, 1});
    a.k_pages = ConstAnyView(theirs.data<const std::byte>(theirs.keys[cache]), shape.dtype, pages_shape);
    a.v_pages = ConstAnyView(theirs.data<const std::byte>(theirs.values[cache]), shape.dtype, pages_shape);
    a.block_table = View<const std::int32_t>(&page, {1, 1});
    a.lengths = View<const std::int32_t>(&length, {1});
    if constexpr (std::is_same_v<Op, Prefill>) a.run_begins = View<const std::int32_t>(run_begins, {2});
    a.window = shape.window;
    a.scale = scale;
    a.y = View<float>(y.data(), {shape.tokens, shape.heads, shape.dimensions});
    return a;
  };
  std::size_t scratch_bytes = 0;
  const std::string variant = variant_of<Op>(setting.table, arguments(0), setting.options.threads, scratch_bytes);
  const Result<Memory> scratch = Memory::allocate(Bytes(scratch_bytes));
  if (!scratch.ok()) return false;
  Context context{setting.workers, scratch.value().bytes()};
  auto run_ours = [&] {
    for (std::size_t cache = 0; cache < theirs.keys.size(); ++cache) {
      const Result<void> done = run<Op>(setting.table, arguments(cache), context);
      if (!done.ok()) std::fprintf(stderr, "%s\n", std::string(done.error().text()).c_str());
    }
  };
  auto run_theirs = [&] { setting.ggml.graph_compute(theirs.backend, theirs.graph); };
  run_theirs();
  run_ours();
  double worst = 0;
  for (std::int64_t i = 0; i < numbers; ++i) {
    worst = std::max(worst, std::fabs(double{y[static_cast<std::size_t>(i)]} - theirs.data<float>(theirs.nodes[0])[i]));
  }
  if (!(worst < 0.03)) {  // theirs rounds queries, and sums of values, to f16 or 8 bits
    std::printf("%s: results differ by %g: not timed\n", shape.name, worst);
    return false;
  }
  const BusyNeighbours times = run_in_turn(run_ours, run_theirs, setting.options.seconds);
  print_row(setting, shape, caches, Op::cost(arguments(0)), variant, times);
  return true;
}

int compare_all(const Ggml& ggml, const Options& options) {
  const Machine machine = Machine::detect();
  std::vector<ForcedVariant> forced;
  for (const Operation* operation : {&describe_operation<Decode>(), &describe_operation<Prefill>()}) {
    if (operation->variant_index(options.variant) < 0) continue;
    forced.push_back({std::string(operation->name), options.variant});
  }
  if (!options.variant.empty() && forced.empty()) {
    std::fprintf(stderr, "expected a variant of attention.decode or attention.prefill, found %s\n",
                 options.variant.c_str());
    return 1;
  }
  const Result<KernelTable> table = KernelTable::select(attention_operations(), machine.features, forced);
  const Result<std::unique_ptr<Workers>> workers = Workers::create({.threads = options.threads});
  if (!table.ok() || !workers.ok()) {
    if (!table.ok()) std::fprintf(stderr, "%s\n", std::string(table.error().text()).c_str());
    return 1;
  }
  const Setting setting{ggml,
                        table.value(),
                        options,
                        *workers.value(),
                        measure_peaks(machine, *workers.value()),
                        machine.last_level_cache().count()};
  std::printf("%d threads; memory reads %.1f GB/s; ours | llama.cpp's | their time over ours [least, greatest]\n",
              options.threads, 1e-9 * setting.peaks.read_bytes_per_second);
  bool all = true;
  for (const AttentionShape& shape : shapes) {
    if (!options.only.empty() && std::strstr(shape.name, options.only.c_str()) == nullptr) continue;
    all = (shape.tokens == 1 ? compare<Decode>(setting, shape) : compare<Prefill>(setting, shape)) && all;
  }
  return all ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  for (Words words(argument_count, arguments); words.next();) {
    if (words.take("--threads", options.threads) || words.take("--seconds", options.seconds) ||
        words.take("--variant", options.variant) || words.take("--only", options.only) ||
        words.take_plain(options.folder)) {
      continue;
    }
    return words.complain("LLAMA_CPP/build/bin, --threads, --seconds, --variant or --only");
  }
  Ggml ggml;
  return ggml.load(options.folder) ? compare_all(ggml, options) : 1;
}
