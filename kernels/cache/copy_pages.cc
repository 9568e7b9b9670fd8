#include "kernels/cache/copy_pages.h"

#include <algorithm>
#include <vector>

#include "kernels/cache/cache_constraints.h"
#include "kernels/cache/copy_pages_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {
namespace {

Result<void> require_page_list(std::string_view name, std::string_view field, const View<const std::int32_t>& list,
                               std::int64_t pages) {
  TRY(require_rank(name, "C2", field, list, 1));
  TRY(require_contiguous(name, "C2", field, list));
  if (!list.place().is_host()) return {};  // what is in it is the caller's to know
  for (std::int64_t n = 0; n < list.size(0); ++n) {
    if (list.data()[n] < 0 || list.data()[n] >= pages) {
      return violated(name, "C2", "expected ", field, " in [0, ", pages, "), found ", list.data()[n], " at ", n);
    }
  }
  return {};
}

// C3
Result<void> require_distinct_pages(const CopyPages::Arguments& a) {
  constexpr std::string_view name = CopyPages::name;
  const auto count = static_cast<std::size_t>(a.source.size(0));
  std::vector<std::int32_t> written(a.destination.data(), a.destination.data() + count);
  std::sort(written.begin(), written.end());
  const auto twin = std::adjacent_find(written.begin(), written.end());
  if (twin != written.end()) {
    return violated(name, "C3", "expected destinations that differ, found page ", *twin, " twice");
  }
  for (std::size_t n = 0; n < count; ++n) {
    if (std::binary_search(written.begin(), written.end(), a.source.data()[n])) {
      return violated(name, "C3", "expected sources that are not written to, found page ", a.source.data()[n],
                      " among the destinations");
    }
  }
  return {};
}

}  // namespace

Result<void> CopyPages::check(const Arguments& a) {
  TRY(require_pages(name, a.pages));
  TRY(require_page_list(name, "source", a.source, a.pages.size(0)));
  TRY(require_page_list(name, "destination", a.destination, a.pages.size(0)));
  TRY(require_shape(name, "C2", "destination", a.destination, a.source.shape()));
  return a.pages.place().is_host() ? require_distinct_pages(a) : Result<void>();
}

Cost CopyPages::cost(const Arguments& a) {
  const double page = static_cast<double>(a.pages.size(1) * a.pages.size(2)) *
                      static_cast<double>(row_bytes(a.pages.dtype(), a.pages.size(3)));
  const double bytes = page * static_cast<double>(a.source.size(0));
  return {.bytes_read = bytes, .bytes_written = bytes};
}

Tolerance CopyPages::tolerance(const Arguments&) { return Tolerance::exact("bytes are moved, not computed"); }

std::span<const Variant<CopyPages>> CopyPages::variants() {
  static const Variant<CopyPages> table[] = {
      copy_pages_cuda,
      INGOT_SIMD_ROWS(copy_pages_simd),
      {"reference", {}, copy_pages_reference},
  };
  return table;
}

template const Operation& describe_operation<CopyPages>();

}  // namespace ingot
