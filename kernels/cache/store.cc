#include "kernels/cache/store.h"

#include "kernels/cache/cache_constraints.h"
#include "kernels/cache/store_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {
namespace {

ConstCacheView read_only(const CacheView& cache) { return {cache.pages, cache.block_table, cache.policy}; }

}  // namespace

template <CachePolicy policy>
Result<void> CacheStore<policy>::check(const Arguments& a) {
  TRY(require_places(name, read_only(a.cache()), a.places(), "x", a.x));
  // An empty cache may claim any size, so that its slots cannot be numbered; nothing is stored to it either.
  return a.x.empty() ? Result<void>() : require_distinct_slots(name, read_only(a.cache()), a.places());
}

template <CachePolicy policy>
Cost CacheStore<policy>::cost(const Arguments& a) {
  const auto rows = static_cast<double>(a.x.size(0) * a.x.size(1));
  return {.operations = a.pages.dtype() == DType::q8_0 ? 3 * static_cast<double>(a.x.count()) : 0,
          .bytes_read = 4 * static_cast<double>(a.x.count()),
          .bytes_written = rows * static_cast<double>(row_bytes(a.pages.dtype(), a.x.size(2)))};
}

template <CachePolicy policy>
Tolerance CacheStore<policy>::tolerance(const Arguments&) {
  return Tolerance::exact("the contract fixes how numbers are rounded and encoded");
}

template <CachePolicy policy>
std::span<const Variant<CacheStore<policy>>> CacheStore<policy>::variants() {
  static const Variant<CacheStore> table[] = {
      INGOT_SIMD_ROWS(cache_store_simd<policy>()),
      {"reference", {}, [](const Arguments& a, Context&) { store_rows_reference(a.cache(), a.places(), a.x); }},
  };
  return table;
}

template struct CacheStore<CachePolicy::contiguous>;
template struct CacheStore<CachePolicy::ring>;
template struct CacheStore<CachePolicy::paged>;

template const Operation& describe_operation<StoreContiguous>();
template const Operation& describe_operation<StoreRing>();
template const Operation& describe_operation<StorePaged>();

}  // namespace ingot
