// Runs over caches of every kind: from a sequence's start and behind much of it, of one token and of none, shorter and
// longer than a tile of rows and than a strip of them.
#pragma once

#include <string>
#include <vector>

#include "kernels/attention/cached/cached_cases.h"
#include "kernels/attention/cached/prefill.h"

namespace ingot {

inline void Prefill::cases(CaseList<Prefill>& list) {
  auto made = [](const std::vector<std::int32_t>& runs, const CachedShape& shape) {
    return [runs, shape](CaseBuilder& builder) {
      Arguments a;
      const View<std::int32_t> begins = builder.blank<std::int32_t>({static_cast<std::int64_t>(runs.size()) + 1});
      std::int32_t tokens = 0;
      begins(0) = 0;
      for (std::size_t run = 0; run < runs.size(); ++run) {
        tokens += runs[run];
        begins(static_cast<std::int64_t>(run) + 1) = tokens;
      }
      a.run_begins = begins;
      fill_cached(builder, shape, tokens, a);
      return a;
    };
  };
  list.parity("a run, every rule",
              made({17}, {6, 2, 18, 11, 4, 12, {46}, DType::f32, DType::f32, 9, 5.0f, false, true, true}));
  list.parity("from the start, f16", made({90}, {3, 1, 33, 40, 16, 6, {90}, DType::f16, DType::f16}));
  list.parity("q8_0", made({24}, {4, 4, 32, 64, 16, 10, {123}, DType::q8_0, DType::q8_0, 0, 0, false, false, true}));
  list.parity("f16 keys, q8_0 values, softcap",
              made({13}, {4, 2, 32, 96, 8, 6, {41}, DType::f16, DType::q8_0, 0, 20.0f}));
  list.parity("q8_0 keys, f16 values, alibi",
              made({9}, {5, 1, 64, 24, 5, 9, {43}, DType::q8_0, DType::f16, 30, 0, false, true}));
  list.parity("two runs", made({9, 12}, {4, 2, 16, 16, 8, 11, {13, 81}}));
  list.parity("ragged runs, every rule, f16",
              made({1, 70, 0, 3, 33},
                   {6, 2, 18, 11, 4, 20, {1, 75, 6, 3, 77}, DType::f16, DType::f16, 40, 5.0f, false, true, true}));
  list.parity("ragged runs, a sequence without tokens, q8_0",
              made({5, 0, 1, 26}, {4, 1, 32, 32, 7, 12, {5, 0, 80, 66}, DType::q8_0, DType::q8_0}));
  list.parity("one token of many", made({1}, {4, 2, 24, 16, 16, 9, {137}, DType::f16, DType::f16}));
  list.parity("a window shorter than the run", made({80}, {2, 1, 8, 8, 16, 6, {85}, DType::f32, DType::f32, 3}));
  list.parity("a ring", made({8}, {4, 2, 8, 8, 8, 9, {107}, DType::f32, DType::f32, 60, 0, true}));
  list.parity("runs in rings, every slot seen",
              made({8, 2}, {4, 4, 8, 16, 4, 3, {29, 7}, DType::f16, DType::f32, 0, 0, true, true}));
  list.parity(
      "contiguous, f16",
      made({6, 0, 45}, {4, 2, 24, 24, 45, 1, {40, 0, 45}, DType::f16, DType::f16, 0, 0, false, true, false, false}));
  list.parity("contiguous ring",
              made({5, 5}, {2, 2, 8, 8, 9, 1, {40, 5}, DType::f32, DType::f32, 4, 0, true, false, false, false}));
  // Units of 32 tokens that lie in one piece, in rows of 64 and 128: devices have a shorter way for them.
  list.parity("ragged runs in pages of whole units, f16, sinks",
              made({40, 1, 3}, {6, 2, 64, 64, 32, 10, {300, 33, 3}, DType::f16, DType::f16, 0, 0, false, false, true}));
  list.parity("ring of whole units with a window, f16",
              made({21}, {2, 1, 128, 128, 64, 2, {140}, DType::f16, DType::f16, 75, 0, true}));
  list.parity("pages of whole units, q8_0", made({37}, {4, 1, 128, 128, 64, 2, {100}, DType::q8_0, DType::q8_0}));
  list.parity("heads of one dimension", made({7}, {3, 3, 1, 1, 1, 8, {8}}));
  list.parity("no runs", made({}, {2, 1, 8, 8, 4, 2, {}}));
  list.parity("runs of no tokens", made({0, 0}, {2, 1, 8, 8, 4, 2, {3, 0}}));
  for (float reach : {3e6f, 1e-6f}) {
    const std::string which = reach > 1 ? "queries beyond halves" : "queries below halves";
    list.parity(which, made({17}, reaching(reach, {4, 2, 20, 24, 16, 6, {46}, DType::f16, DType::f16})));
    list.parity(which + ", q8_0", made({17}, reaching(reach, {4, 2, 64, 32, 16, 6, {46}, DType::q8_0, DType::q8_0})));
  }
  list.parity("strips of row tiles, the last one short",
              made({140}, {128, 64, 4, 4, 64, 4, {180}, DType::f16, DType::f32, 50}));
  list.parity("strips of two runs", made({50, 90}, {128, 64, 4, 4, 64, 4, {50, 180}, DType::f16, DType::f32}));
  list.benchmark("a run of 256 after 256 f16, 9 heads of 64, 3 key heads",
                 made({256}, {9, 3, 64, 64, 64, 8, {512}, DType::f16, DType::f16}));
  list.benchmark("a run of 256 after 256 q8_0, 16 heads of 128, 4 key heads",
                 made({256}, {16, 4, 128, 128, 64, 8, {512}, DType::q8_0, DType::q8_0}));
  list.benchmark("8 runs of 32 after 224 f16, 9 heads of 64, 3 key heads",
                 made(std::vector<std::int32_t>(8, 32),
                      {9, 3, 64, 64, 64, 8, std::vector<std::int32_t>(8, 256), DType::f16, DType::f16}));
}

}  // namespace ingot
