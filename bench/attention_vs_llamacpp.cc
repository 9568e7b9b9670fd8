// How fast is attention.decode next to llama.cpp's flash attention, on the same threads, in one run?
//
//   bench_attention_vs_llamacpp LLAMA_CPP/build/bin [--threads N] [--seconds S] [--variant NAME] [--only TEXT]
//
// Both read the very same keys and values, [head][token][dim], in turn, so that whatever else the machine does falls on
// both; results are compared before anything is timed. The figures are medians; the ratio is their time over ours, with
// the least and the greatest of the ratios of neighbours in time. llama.cpp's libraries are opened at run time.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/attention/decode.h"
#include "kernels/attention/family.h"
#include "kernels/contract/run.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "tensor/block_codec.h"

namespace {

using namespace ingot;

// The part of ggml's C interface that one graph of one node takes. Contexts, tensors, graphs and backends are opaque.
struct Ggml {
  struct InitParameters {
    std::size_t bytes;
    void* buffer;
    bool without_data;
  };
  void* (*init)(InitParameters) = nullptr;
  void (*free)(void* context) = nullptr;
  void* (*new_tensor_4d)(void* context, int type, std::int64_t, std::int64_t, std::int64_t, std::int64_t) = nullptr;
  void* (*flash_attn_ext)(void* context, void* q, void* k, void* v, void* mask, float scale, float max_bias,
                          float softcap) = nullptr;
  void (*flash_attn_ext_set_prec)(void* node, int precision) = nullptr;
  void* (*get_data)(const void* tensor) = nullptr;
  void* (*new_graph)(void* context) = nullptr;
  void (*build_forward_expand)(void* graph, void* node) = nullptr;
  void* (*cpu_init)() = nullptr;
  void (*cpu_set_n_threads)(void* backend, int threads) = nullptr;
  int (*graph_compute)(void* backend, void* graph) = nullptr;

  bool load(const std::string& folder) {
    void* libraries[2];
    const char* names[] = {"libggml-base.so", "libggml-cpu.so"};
    for (int i = 0; i < 2; ++i) {
      libraries[i] = dlopen((folder + "/" + names[i]).c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (libraries[i] == nullptr) {
        std::fprintf(stderr, "expected a built llama.cpp, found: %s\n", dlerror());
        return false;
      }
    }
    bool all = true;
    auto find = [&](auto& function, const char* name) {
      for (void* library : libraries) {
        if (function == nullptr) function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      }
      if (function == nullptr) std::fprintf(stderr, "expected %s in llama.cpp's libraries, found none\n", name);
      all = all && function != nullptr;
    };
    find(init, "ggml_init");
    find(free, "ggml_free");
    find(new_tensor_4d, "ggml_new_tensor_4d");
    find(flash_attn_ext, "ggml_flash_attn_ext");
    find(flash_attn_ext_set_prec, "ggml_flash_attn_ext_set_prec");
    find(get_data, "ggml_get_data");
    find(new_graph, "ggml_new_graph");
    find(build_forward_expand, "ggml_build_forward_expand");
    find(cpu_init, "ggml_backend_cpu_init");
    find(cpu_set_n_threads, "ggml_backend_cpu_set_n_threads");
    find(graph_compute, "ggml_backend_graph_compute");
    return all;
  }
};

struct AttentionShape {
  const char* name;
  std::int64_t tokens;  // new ones, of one sequence
  std::int64_t length;  // of the sequence, the new ones included
  std::int64_t heads;
  std::int64_t key_heads;
  std::int64_t dimensions;
  DType dtype;
};

constexpr AttentionShape shapes[] = {
    {"decode 8k, GQA 1, f16", 1, 8192, 32, 32, 128, DType::f16},
    {"decode 8k, GQA 4, f16", 1, 8192, 32, 8, 128, DType::f16},
    {"decode 8k, GQA 4, q8_0", 1, 8192, 32, 8, 128, DType::q8_0},
    {"decode 8k, one key head, f16", 1, 8192, 4, 1, 128, DType::f16},
    {"decode 4k, 9 heads of 64, f16", 1, 4096, 9, 3, 64, DType::f16},
    {"prefill 512 at 4k, GQA 4, f16", 512, 4096, 32, 8, 128, DType::f16},
    {"prefill 512 at 512, GQA 4, f16", 512, 512, 32, 8, 128, DType::f16},
    {"prefill 512 at 4k, GQA 4, q8_0", 512, 4096, 32, 8, 128, DType::q8_0},
    {"prefill 512 at 1k, 9 heads of 64, f16", 512, 1024, 9, 3, 64, DType::f16},
};

struct Options {
  std::string folder;
  std::string variant;
  std::string only;
  int threads = 1;
  double seconds = 4;
};

template <class Body>
double seconds(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool compare(const Ggml& ggml, const KernelTable& table, const Options& options, const AttentionShape& shape) {
  const std::int64_t row = static_cast<std::int64_t>(row_bytes(shape.dtype, shape.dimensions));
  const std::int64_t kv_bytes = shape.length * shape.key_heads * row;
  const std::int64_t numbers = shape.tokens * shape.heads * shape.dimensions;
  // Theirs: two of keys and values, queries and outputs, the mask, and room to spare.
  const std::int64_t bytes = 2 * kv_bytes + 8 * numbers + 2 * shape.tokens * shape.length + (16 << 20);
  void* context = ggml.init({static_cast<std::size_t>(bytes), nullptr, false});
  const int type = shape.dtype == DType::f16 ? 1 : 8;
  void* q = ggml.new_tensor_4d(context, 0, shape.dimensions, shape.tokens, shape.heads, 1);
  void* k = ggml.new_tensor_4d(context, type, shape.dimensions, shape.length, shape.key_heads, 1);
  void* v = ggml.new_tensor_4d(context, type, shape.dimensions, shape.length, shape.key_heads, 1);
  void* mask = ggml.new_tensor_4d(context, 1, shape.length, shape.tokens, 1, 1);
  const float scale = 1 / std::sqrt(static_cast<float>(shape.dimensions));
  void* node = ggml.flash_attn_ext(context, q, k, v, mask, scale, 0, 0);
  ggml.flash_attn_ext_set_prec(node, 10);  // f32, as llama.cpp asks for
  void* graph = ggml.new_graph(context);
  ggml.build_forward_expand(graph, node);
  void* backend = ggml.cpu_init();
  ggml.cpu_set_n_threads(backend, options.threads);

  unsigned state = 1;
  auto number = [&] { return static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1; };
  auto* queries = static_cast<float*>(ggml.get_data(q));
  for (std::int64_t i = 0; i < numbers; ++i) queries[i] = 4 * number();
  std::vector<float> values(static_cast<std::size_t>(shape.dimensions));
  for (void* tensor : {k, v}) {
    auto* rows = static_cast<std::byte*>(ggml.get_data(tensor));
    for (std::int64_t i = 0; i < shape.length * shape.key_heads; ++i) {
      for (float& value : values) value = number();
      encode_row(shape.dtype, values.data(), rows + i * row, shape.dimensions);
    }
  }
  auto* seen = static_cast<std::uint16_t*>(ggml.get_data(mask));
  constexpr std::uint16_t minus_infinity = 0xfc00;
  for (std::int64_t i = 0; i < shape.tokens; ++i) {
    for (std::int64_t j = 0; j < shape.length; ++j) {
      seen[i * shape.length + j] = j <= shape.length - shape.tokens + i ? 0 : minus_infinity;
    }
  }

  std::vector<float> ours(static_cast<std::size_t>(numbers));
  std::vector<std::int32_t> pages(static_cast<std::size_t>(shape.tokens), 0);
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < shape.tokens; ++i) {
    lengths.push_back(static_cast<std::int32_t>(shape.length - shape.tokens + i + 1));
  }
  const Shape cache{1, shape.key_heads, shape.length, shape.dimensions};
  Decode::Arguments a;
  a.q = View<const float>(queries, {shape.tokens, shape.heads, shape.dimensions},
                          {shape.dimensions, shape.tokens * shape.dimensions, 1});
  a.k_pages = ConstAnyView(static_cast<const std::byte*>(ggml.get_data(k)), shape.dtype, cache);
  a.v_pages = ConstAnyView(static_cast<const std::byte*>(ggml.get_data(v)), shape.dtype, cache);
  a.block_table = View<const std::int32_t>(pages.data(), {shape.tokens, 1});
  a.lengths = View<const std::int32_t>(lengths.data(), {shape.tokens});
  a.scale = scale;
  a.y = View<float>(ours.data(), {shape.tokens, shape.heads, shape.dimensions});
  auto workers = Workers::create({.threads = options.threads});
  std::size_t scratch = 64;
  std::string variant;
  for (int index : table.available(Decode::name)) {
    const Variant<Decode>& row_of_table = Decode::variants()[static_cast<std::size_t>(index)];
    if (!variant.empty() || (row_of_table.accepts != nullptr && !row_of_table.accepts(a))) continue;
    variant = row_of_table.name;
    if (row_of_table.scratch_bytes != nullptr) scratch = row_of_table.scratch_bytes(a, options.threads);
  }
  auto memory = Memory::allocate(Bytes(scratch));
  if (!workers.ok() || !memory.ok()) return false;
  Context ours_context{*workers.value(), {memory.value().data(), memory.value().size()}};
  auto run_ours = [&] {
    const Result<void> done = run<Decode>(table, a, ours_context);
    if (!done.ok()) std::fprintf(stderr, "%s\n", std::string(done.error().text()).c_str());
  };
  auto run_theirs = [&] { ggml.graph_compute(backend, graph); };

  run_theirs();
  run_ours();
  const auto* theirs = static_cast<const float*>(ggml.get_data(node));
  double worst = 0;
  for (std::int64_t i = 0; i < numbers; ++i) {
    worst = std::max(worst, std::fabs(double{ours[static_cast<std::size_t>(i)]} - double{theirs[i]}));
  }
  // Theirs rounds queries, and sums of values, to f16 or 8 bits.
  const bool agree = worst < 0.02;
  std::vector<double> our_times, their_times, ratios;
  for (double spent = 0; agree && (spent < options.seconds || ratios.size() < 5);) {
    const bool first = ratios.size() % 2 == 0;
    double times[2];  // ours, theirs
    for (int turn = 0; turn < 2; ++turn) {
      const bool is_ours = (turn == 0) == first;
      times[is_ours ? 0 : 1] = is_ours ? seconds(run_ours) : seconds(run_theirs);
      usleep(10000);  // until their threads sleep
    }
    our_times.push_back(times[0]);
    their_times.push_back(times[1]);
    ratios.push_back(times[1] / times[0]);
    spent += times[0] + times[1];
  }
  if (agree) {
    const double read = static_cast<double>(2 * kv_bytes);
    const double operations = Decode::cost(a).operations;
    const double our_time = median(our_times);
    const double their_time = median(their_times);
    std::printf("%-38s %8.2f ms %6.1f GB/s %7.1f GFLOP/s | %8.2f ms %6.1f GB/s %7.1f GFLOP/s | %5.2f [%.2f, %.2f] %s\n",
                shape.name, 1e3 * our_time, 1e-9 * read / our_time, 1e-9 * operations / our_time, 1e3 * their_time,
                1e-9 * read / their_time, 1e-9 * operations / their_time, median(ratios),
                *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()),
                variant.c_str());
  } else {
    std::printf("%-38s results differ by %g: not timed\n", shape.name, worst);
  }
  std::fflush(stdout);
  ggml.free(context);
  return agree;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  for (int index = 1; index < argument_count; ++index) {
    const bool has_value = index + 1 < argument_count;
    if (std::strcmp(arguments[index], "--threads") == 0 && has_value) {
      options.threads = std::max(1, std::atoi(arguments[++index]));
    } else if (std::strcmp(arguments[index], "--seconds") == 0 && has_value) {
      options.seconds = std::atof(arguments[++index]);
    } else if (std::strcmp(arguments[index], "--variant") == 0 && has_value) {
      options.variant = arguments[++index];
    } else if (std::strcmp(arguments[index], "--only") == 0 && has_value) {
      options.only = arguments[++index];
    } else if (options.folder.empty() && arguments[index][0] != '-') {
      options.folder = arguments[index];
    } else {
      std::fprintf(stderr, "expected LLAMA_CPP/build/bin, --threads, --seconds, --variant or --only, found '%s'\n",
                   arguments[index]);
      return 2;
    }
  }
  Ggml ggml;
  if (!ggml.load(options.folder)) return 1;
  std::vector<ForcedVariant> forced;
  if (!options.variant.empty()) forced.push_back({std::string(Decode::name), options.variant});
  auto table = KernelTable::select(attention_operations(), Machine::detect().features, forced);
  if (!table.ok()) {
    std::fprintf(stderr, "%s\n", std::string(table.error().text()).c_str());
    return 1;
  }
  std::printf("%d threads; ours | llama.cpp's | their time over ours [least, greatest]\n", options.threads);
  bool all = true;
  for (const AttentionShape& shape : shapes) {
    if (!options.only.empty() && std::strstr(shape.name, options.only.c_str()) == nullptr) continue;
    all = compare(ggml, table.value(), options, shape) && all;
  }
  return all ? 0 : 1;
}
