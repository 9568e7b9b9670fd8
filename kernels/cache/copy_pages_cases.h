// Every type; one source for several destinations; no page at all.
#pragma once

#include <initializer_list>
#include <vector>

#include "kernels/cache/copy_pages.h"

namespace ingot {

inline void CopyPages::cases(CaseList<CopyPages>& list) {
  auto copy = [](DType dtype, Shape pages, const std::vector<std::int32_t>& source,
                 const std::vector<std::int32_t>& destination) {
    return [=](CaseBuilder& builder) {
      auto pages_list = [&](const std::vector<std::int32_t>& values) {
        const auto count = static_cast<std::int64_t>(values.size());
        const auto made = builder.filled<std::int32_t>({count}, Fill::constant(0), Packing::contiguous);
        for (std::int64_t n = 0; n < count; ++n) made(n) = values[static_cast<std::size_t>(n)];
        return made;
      };
      return Arguments{pages_list(source), pages_list(destination),
                       builder.filled_any(dtype, pages, Fill::uniform(-2, 2))};
    };
  };
  list.parity("f32", copy(DType::f32, {5, 2, 3, 37}, {0, 4}, {2, 1}));
  list.parity("f16, one page to three", copy(DType::f16, {5, 2, 3, 64}, {3, 3, 3}, {0, 2, 4}));
  list.parity("q8_0", copy(DType::q8_0, {4, 2, 3, 64}, {1}, {3}));
  list.parity("none", copy(DType::f16, {4, 2, 3, 64}, {}, {}));
  list.benchmark("4 pages of 8 x 64 x 128 f16", copy(DType::f16, {16, 8, 64, 128}, {0, 1, 2, 3}, {8, 9, 10, 11}));
}

}  // namespace ingot
