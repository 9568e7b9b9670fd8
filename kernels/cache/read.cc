#include "kernels/cache/read.h"

#include "kernels/cache/cache_constraints.h"
#include "kernels/cache/read_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {

template <CachePolicy policy>
Result<void> CacheRead<policy>::check(const Arguments& a) {
  return require_places(name, a.cache(), a.places(), "y", a.y);
}

template <CachePolicy policy>
Cost CacheRead<policy>::cost(const Arguments& a) {
  const auto rows = static_cast<double>(a.y.size(0) * a.y.size(1));
  return {.operations = a.pages.dtype() == DType::q8_0 ? static_cast<double>(a.y.count()) : 0,
          .bytes_read = rows * static_cast<double>(row_bytes(a.pages.dtype(), a.y.size(2))),
          .bytes_written = 4 * static_cast<double>(a.y.count())};
}

template <CachePolicy policy>
Tolerance CacheRead<policy>::tolerance(const Arguments&) {
  return Tolerance::exact("decoding is what the stored bytes mean; a code times its scale rounds once");
}

template <CachePolicy policy>
std::span<const Variant<CacheRead<policy>>> CacheRead<policy>::variants() {
  static const Variant<CacheRead> table[] = {
      cache_read_cuda<policy>(),
      INGOT_SIMD_ROWS(cache_read_simd<policy>()),
      {"reference", {}, [](const Arguments& a, Context&) { read_rows_reference(a.cache(), a.places(), a.y); }},
  };
  return table;
}

template struct CacheRead<CachePolicy::contiguous>;
template struct CacheRead<CachePolicy::ring>;
template struct CacheRead<CachePolicy::paged>;

template const Operation& describe_operation<ReadContiguous>();
template const Operation& describe_operation<ReadRing>();
template const Operation& describe_operation<ReadPaged>();

}  // namespace ingot
