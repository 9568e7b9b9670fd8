// Single tokens over caches of every kind, and more of a cache than a tile and than a split.
#pragma once

#include <string>

#include "kernels/attention/cached/cached_cases.h"
#include "kernels/attention/cached/decode.h"

namespace ingot {

inline void Decode::cases(CaseList<Decode>& list) {
  auto made = [](const CachedShape& shape) {
    return [shape](CaseBuilder& builder) {
      Arguments a;
      fill_cached(builder, shape, static_cast<std::int64_t>(shape.lengths.size()), a);
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
  // Units of 32 tokens that lie in one piece, in rows of 64 and 128: devices have a shorter way for them.
  list.parity("pages of whole units, f16, sinks",
              made({8, 2, 64, 64, 32, 12, {130, 3, 0, 384}, DType::f16, DType::f16, 0, 0, false, false, true}));
  list.parity("ring of whole units with a window, f16",
              made({5, 1, 128, 128, 64, 2, {140, 40}, DType::f16, DType::f16, 75, 0, true}));
  list.parity("pages of whole units, q8_0", made({4, 1, 128, 128, 64, 5, {300, 33, 0}, DType::q8_0, DType::q8_0}));
  list.parity("whole units with a window, q8_0, sinks",
              made({16, 2, 64, 64, 32, 5, {97, 160}, DType::q8_0, DType::q8_0, 50, 0, false, false, true}));
  list.parity("no sequences", made({2, 1, 8, 8, 4, 2, {}}));
  for (float reach : {3e6f, 1e-6f}) {
    const std::string which = reach > 1 ? "queries beyond halves, group of " : "queries below halves, group of ";
    list.parity(which + "4", made(reaching(reach, {4, 1, 40, 24, 16, 6, {90, 2}, DType::f16, DType::f16})));
    list.parity(which + "1", made(reaching(reach, {2, 2, 24, 40, 16, 6, {83}, DType::f16, DType::f16})));
    list.parity(which + "4, q8_0", made(reaching(reach, {4, 1, 64, 32, 16, 6, {90, 3}, DType::q8_0, DType::q8_0})));
    list.parity(which + "1, q8_0", made(reaching(reach, {2, 2, 32, 64, 16, 6, {83}, DType::q8_0, DType::q8_0})));
  }
  // A pass of short runs attends so: rows of the table that are alike, lengths that grow.
  CachedShape neighbours = {6, 2, 18, 11, 4, 12, {30, 31, 32}, DType::f16, DType::f32, 9, 5.0f, false, true, true};
  neighbours.shared = true;
  list.parity("tokens of one sequence", made(neighbours));
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
