// Whole pages onto others: how a fork of a sequence gets pages of its own before it writes to them.
//
//   pages[destination[n]] = pages[source[n]]
//
// C1  pages has shape [P, H, L, D] with L >= 1 and a packed last axis, and is of type f32, f16 or q8_0
// C2  source and destination have the same shape [N] and are contiguous; every page is in [0, P)
// C3  destinations differ from one another and from every source, so that the order of copies does not matter
#pragma once

#include "kernels/contract/contract.h"

namespace ingot {

struct CopyPages {
  static constexpr std::string_view name = "cache.copy_pages";
  static constexpr std::string_view equation = "pages[destination[n]] = pages[source[n]]";
  static constexpr Backward backward =
      Backward::none("a cache serves generation; training keeps whole keys and values instead");

  struct Arguments {
    View<const std::int32_t> source;
    View<const std::int32_t> destination;
    AnyView pages;

    static constexpr auto fields() {
      return field_list(input(&Arguments::source, "source"), input(&Arguments::destination, "destination"),
                        state(&Arguments::pages, "pages"));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<CopyPages>> variants();
  static void cases(CaseList<CopyPages>& list);
};

void copy_pages_reference(const CopyPages::Arguments& arguments, Context& context);
extern const SimdEntries<CopyPages> copy_pages_simd;
extern const Variant<CopyPages> copy_pages_cuda;

}  // namespace ingot
