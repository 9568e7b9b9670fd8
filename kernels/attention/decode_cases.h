// Caches of every kind: one contiguous page, pages in scrambled order, rings that have wrapped; every dtype.
#pragma once

#include "kernels/attention/decode.h"

namespace ingot {

struct DecodeShape {
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t dimensions = 1;
  std::int64_t value_dimensions = 1;
  std::int64_t page_length = 1;
  std::int64_t max_pages = 1;
  std::vector<std::int32_t> lengths;
  DType keys = DType::f32;
  DType values = DType::f32;
  std::int64_t window = 0;
  float softcap = 0;
  bool ring = false;
  bool alibi = false;
  bool sinks = false;
  bool has_table = true;
  bool shared = false;  // every row of the table is the same: tokens of one sequence
  float reach = 0;      // of queries, where it is not the regime's; keys and values are tame then
};

inline void Decode::cases(CaseList<Decode>& list) {
  auto made = [](const DecodeShape& shape) {
    return [shape](CaseBuilder& builder) {
      const auto batches = static_cast<std::int64_t>(shape.lengths.size());
      const std::int64_t pages = batches * shape.max_pages + 1;
      Arguments a;
      const Fill fill = shape.reach == 0 ? Fill::values() : Fill::uniform(-2, 2);
      a.q = builder.filled({batches, shape.heads, shape.dimensions},
                           shape.reach == 0 ? fill : Fill::uniform(-shape.reach, shape.reach));
      a.k_pages = builder.filled_any(shape.keys, {pages, shape.key_heads, shape.page_length, shape.dimensions}, fill);
      a.v_pages =
          builder.filled_any(shape.values, {pages, shape.key_heads, shape.page_length, shape.value_dimensions}, fill);
      const View<std::int32_t> table = builder.blank<std::int32_t>({batches, shape.max_pages});
      const View<std::int32_t> lengths = builder.blank<std::int32_t>({batches});
      for (std::int64_t b = 0; b < batches; ++b) {
        lengths(b) = shape.lengths[static_cast<std::size_t>(b)];
        for (std::int64_t page = 0; page < shape.max_pages; ++page) {
          // Later sequences own earlier pages, and pages run backwards; what no token uses is no page at all.
          const bool used = page * shape.page_length < lengths(b);
          const std::int64_t owner = shape.shared ? 0 : b;
          table(b, page) = used ? static_cast<std::int32_t>(pages - 1 - owner * shape.max_pages - page) : -1;
        }
      }
      if (shape.has_table) a.block_table = table;
      a.lengths = lengths;
      if (shape.alibi) a.alibi_slopes = builder.filled({shape.heads}, Fill::uniform(0.01, 0.5));
      if (shape.sinks) a.sinks = builder.filled({shape.heads}, Fill::uniform(-1, 2));
      a.scale = 1 / std::sqrt(static_cast<float>(shape.dimensions));
      if (shape.reach != 0) a.scale /= shape.reach;
      a.window = shape.window;
      a.softcap = shape.softcap;
      a.ring = shape.ring;
      a.y = builder.blank({batches, shape.heads, shape.value_dimensions});
      return a;
    };
  };
  list.parity("pages, every rule",
              made({6, 2, 18, 11, 4, 5, {17, 3, 0, 20}, DType::f32, DType::f32, 9, 5.0f, false, true, true}));
  list.parity("ring that wrapped", made({4, 4, 8, 16, 4, 3, {7, 12, 29}, DType::f32, DType::f32, 0, 0, true}));
  list.parity("ring with a window", made({5, 1, 8, 8, 3, 4, {40, 11}, DType::f32, DType::f32, 5, 0, true, true}));
  list.parity("one page", made({4, 2, 64, 64, 70, 1, {70, 33}}));
  list.parity("contiguous, f16",
              made({4, 2, 24, 24, 45, 1, {40, 0, 45}, DType::f16, DType::f16, 0, 0, false, true, false, false}));
  list.parity("contiguous ring",
              made({2, 2, 8, 8, 9, 1, {40, 5}, DType::f32, DType::f32, 4, 0, true, false, false, false}));
  list.parity("one token", made({3, 3, 1, 1, 1, 1, {1}}));
  list.parity("f16", made({8, 2, 33, 40, 16, 4, {50, 64}, DType::f16, DType::f16}));
  list.parity("q8_0", made({8, 2, 32, 64, 16, 5, {79, 2}, DType::q8_0, DType::q8_0, 0, 0, false, false, true}));
  list.parity("f16 keys, q8_0 values, ring", made({4, 4, 32, 96, 8, 3, {77}, DType::f16, DType::q8_0, 0, 20.0f, true}));
  list.parity("long", made({2, 1, 16, 16, 64, 40, {2500}}));
  list.parity("group of 7 over f16", made({7, 1, 48, 128, 32, 6, {130, 3, 0, 64}, DType::f16, DType::f16}));
  list.parity("group of 5 over q8_0",
              made({10, 2, 64, 32, 48, 3, {133, 1}, DType::q8_0, DType::f16, 70, 0, false, true}));
  list.parity("one head to a key head, f16 and q8_0", made({3, 3, 96, 64, 16, 9, {137}, DType::f16, DType::q8_0}));
  list.parity("one head to a key head, q8_0",
              made({2, 2, 128, 96, 24, 8, {150, 5, 0}, DType::q8_0, DType::q8_0, 0, 0, false, true}));
  list.parity("group of 8 over q8_0, short pages",
              made({8, 1, 96, 128, 3, 40, {117, 64, 9}, DType::q8_0, DType::q8_0}));
  list.parity("no sequences", made({2, 1, 8, 8, 4, 2, {}}));
  auto reaching = [](float reach, DecodeShape shape) {
    shape.reach = reach;
    return shape;
  };
  for (float reach : {3e6f, 1e-6f}) {
    const std::string which = reach > 1 ? "queries beyond halves, group of " : "queries below halves, group of ";
    list.parity(which + "4", made(reaching(reach, {4, 1, 40, 24, 16, 6, {90, 2}, DType::f16, DType::f16})));
    list.parity(which + "1", made(reaching(reach, {2, 2, 24, 40, 16, 6, {83}, DType::f16, DType::f16})));
    list.parity(which + "4, q8_0", made(reaching(reach, {4, 1, 64, 32, 16, 6, {90, 3}, DType::q8_0, DType::q8_0})));
    list.parity(which + "1, q8_0", made(reaching(reach, {2, 2, 32, 64, 16, 6, {83}, DType::q8_0, DType::q8_0})));
  }
  auto run = [](std::int32_t first, int count) {
    std::vector<std::int32_t> lengths;
    for (int i = 0; i < count; ++i) lengths.push_back(first + i);
    return lengths;
  };
  auto shared = [](DecodeShape shape) {
    shape.shared = true;
    return shape;
  };
  list.parity("a run, every rule",
              made(shared({6, 2, 18, 11, 4, 12, run(30, 17), DType::f32, DType::f32, 9, 5.0f, false, true, true})));
  list.parity("a run from the start, f16", made(shared({3, 1, 33, 40, 16, 6, run(1, 90), DType::f16, DType::f16})));
  list.parity("a run of queries beyond halves",
              made(shared(reaching(3e6f, {4, 2, 20, 24, 16, 6, run(30, 17), DType::f16, DType::f16}))));
  list.parity("a run, q8_0", made(shared({4, 4, 32, 64, 16, 10, run(100, 24), DType::q8_0, DType::q8_0})));
  list.parity("a run in a ring", made(shared({4, 2, 8, 8, 8, 9, run(100, 8), DType::f32, DType::f32, 60, 0, true})));
  list.parity("strips of row tiles, the last one short",
              made(shared({128, 64, 4, 4, 64, 4, run(41, 140), DType::f16, DType::f32, 50})));
  std::vector<std::int32_t> two_runs = run(5, 9);
  for (std::int32_t length : run(70, 12)) two_runs.push_back(length);
  list.parity("two runs", made(shared({4, 2, 16, 16, 8, 11, two_runs})));
  list.benchmark("a run of 256 after 256 f16, 9 heads of 64, 3 key heads",
                 made(shared({9, 3, 64, 64, 64, 8, run(257, 256), DType::f16, DType::f16})));
  list.benchmark("8192 tokens f16, 32 heads of 128, 32 key heads",
                 made({32, 32, 128, 128, 64, 128, {8192}, DType::f16, DType::f16}));
  list.benchmark("8192 tokens f16, 32 heads of 128, 8 key heads",
                 made({32, 8, 128, 128, 64, 128, {8192}, DType::f16, DType::f16}));
  list.benchmark("8192 tokens q8_0, 32 heads of 128, 32 key heads",
                 made({32, 32, 128, 128, 64, 128, {8192}, DType::q8_0, DType::q8_0}));
  list.benchmark("8192 tokens q8_0, 32 heads of 128, 8 key heads",
                 made({32, 8, 128, 128, 64, 128, {8192}, DType::q8_0, DType::q8_0}));
}

}  // namespace ingot
