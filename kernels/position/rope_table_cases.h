// Every kind of scaling; one pair, odd numbers of pairs, far positions, no positions.
#pragma once

#include "kernels/position/rope_cases.h"
#include "kernels/position/rope_table.h"

namespace ingot {

inline void RopeTable::cases(CaseList<RopeTable>& list) {
  auto made = [](std::int64_t rows, std::int64_t rotary, RopeScaling scaling, double farthest = 5000) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      a.positions = builder.filled<std::int32_t>({rows}, Fill::integers(-20, farthest));
      fill_rotation(a, rotary, scaling);
      if (rotary == 14) a.frequency_factors = builder.filled({rotary / 2}, Fill::uniform(1, 8));
      a.cosine = builder.blank({rows, rotary / 2});
      a.sine = builder.blank({rows, rotary / 2});
      return a;
    };
  };
  list.parity("yarn, factors", made(5, 14, RopeScaling::yarn));
  list.parity("none", made(9, 64, RopeScaling::none));
  list.parity("linear", made(3, 30, RopeScaling::linear));
  list.parity("ntk", made(3, 66, RopeScaling::ntk));
  list.parity("llama3", made(4, 128, RopeScaling::llama3));
  list.parity("one pair", made(3, 2, RopeScaling::yarn));
  list.parity("far positions", made(6, 34, RopeScaling::none, 2147483647.0));
  list.parity("no positions", made(0, 8, RopeScaling::none));
  list.benchmark("4096 positions of 128", made(4096, 128, RopeScaling::none));
}

}  // namespace ingot
