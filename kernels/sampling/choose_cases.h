// Shapes: vocabularies around a vector and around a block of summed weights, no rows; ties; masked tokens; rows that
// are masked altogether; random numbers at both ends of their range.
#pragma once

#include <limits>

#include "kernels/sampling/choose.h"

namespace ingot {

// Masks two thirds of the tokens, and every token of the second row.
inline void mask_tokens(const View<float>& logits) {
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    for (std::int64_t i = 0; i < logits.size(1); ++i) {
      if (row == 1 || i % 3 != 1) logits(row, i) = -std::numeric_limits<float>::infinity();
    }
  }
}

inline void Greedy::cases(CaseList<Greedy>& list) {
  auto rows_of = [](std::int64_t rows, std::int64_t tokens, Fill fill = Fill::values()) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled({rows, tokens}, fill), builder.blank<std::int32_t>({rows})};
    };
  };
  list.parity("3 x 37", rows_of(3, 37));
  list.parity("2 x 1", rows_of(2, 1));
  list.parity("5 x 1000", rows_of(5, 1000));
  list.parity("2 x 9001", rows_of(2, 9001));
  list.parity("ties", rows_of(9, 83, Fill::integers(-2, 2)));
  list.parity("no rows", rows_of(0, 8));
  list.parity("masked", [](CaseBuilder& builder) {
    const View<float> logits = builder.filled({3, 50});
    mask_tokens(logits);
    return Arguments{logits, builder.blank<std::int32_t>({3})};
  });
  list.benchmark("1 x 151936", rows_of(1, 151936));
}

inline void Categorical::cases(CaseList<Categorical>& list) {
  auto rows_of = [](std::int64_t rows, std::int64_t tokens, Fill uniform = Fill::uniform(0, 1)) {
    return [=](CaseBuilder& builder) {
      return Arguments{builder.filled({rows, tokens}), builder.filled({rows}, uniform, Packing::contiguous),
                       builder.blank<std::int32_t>({rows})};
    };
  };
  list.parity("3 x 37", rows_of(3, 37));
  list.parity("2 x 1", rows_of(2, 1));
  list.parity("40 x 7", rows_of(40, 7));
  list.parity("9 x 1024", rows_of(9, 1024));
  list.parity("9 x 5003", rows_of(9, 5003));
  list.parity("the least number", rows_of(3, 1100, Fill::constant(0)));
  list.parity("the greatest number", rows_of(3, 1100, Fill::constant(0x1.fffffep-1)));
  list.parity("no rows", rows_of(0, 8));
  list.parity("masked", [](CaseBuilder& builder) {
    const View<float> logits = builder.filled({3, 2500});
    mask_tokens(logits);
    return Arguments{logits, builder.filled({3}, Fill::uniform(0, 1), Packing::contiguous),
                     builder.blank<std::int32_t>({3})};
  });
  list.benchmark("1 x 151936", rows_of(1, 151936));
  list.benchmark("64 x 32000", rows_of(64, 32000));
}

}  // namespace ingot
