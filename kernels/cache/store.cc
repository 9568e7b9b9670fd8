#include "kernels/cache/store.h"

#include "kernels/cache/cache_constraints.h"
#include "kernels/cache/store_cases.h"
#include "kernels/contract/describe.h"

namespace ingot {
namespace {

ConstCacheView read_only(const CacheView& cache) { return {cache.pages, cache.block_table, cache.policy}; }

template <class Arguments>
Result<void> check_store(std::string_view name, const Arguments& a, std::string_view rows) {
  TRY(require_places(name, read_only(a.cache()), a.places(), rows, a.x));
  // An empty cache may claim any size, so that its slots cannot be numbered; nothing is stored to it either.
  return a.x.empty() || !a.x.place().is_host() ? Result<void>()
                                               : require_distinct_slots(name, read_only(a.cache()), a.places());
}

}  // namespace

template <CachePolicy policy>
Result<void> CacheStore<policy>::check(const Arguments& a) {
  return check_store(name, a, "x");
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
      cache_store_cuda<policy>(),
      INGOT_SIMD_ROWS(cache_store_simd<policy>()),
      {"reference", {}, [](const Arguments& a, Context&) { store_rows_reference(a.cache(), a.places(), a.x); }},
  };
  return table;
}

Result<void> check_joint_store(std::string_view operation, const JointStorePaged::Arguments& a, std::string_view keys) {
  TRY(check_store(operation, a.of_keys(), keys));
  return check_store(operation, a.of_values(), "values");
}

Result<void> JointStorePaged::check(const Arguments& a) { return check_joint_store(name, a, "keys"); }

void joint_store_reference(const JointStorePaged::Arguments& a, Context&) {
  for (const StorePaged::Arguments& one : {a.of_keys(), a.of_values()}) {
    store_rows_reference(one.cache(), one.places(), one.x);
  }
}

Cost JointStorePaged::cost(const Arguments& a) {
  const Cost of_keys = StorePaged::cost(a.of_keys());
  const Cost of_values = StorePaged::cost(a.of_values());
  return {.operations = of_keys.operations + of_values.operations,
          .bytes_read = of_keys.bytes_read + of_values.bytes_read,
          .bytes_written = of_keys.bytes_written + of_values.bytes_written};
}

Tolerance JointStorePaged::tolerance(const Arguments& a) { return StorePaged::tolerance(a.of_keys()); }

std::span<const Variant<JointStorePaged>> JointStorePaged::variants() {
  static const Variant<JointStorePaged> table[] = {
      joint_store_cuda,
      {"reference", {}, joint_store_reference},
  };
  return table;
}

template struct CacheStore<CachePolicy::contiguous>;
template struct CacheStore<CachePolicy::ring>;
template struct CacheStore<CachePolicy::paged>;

template const Operation& describe_operation<StoreContiguous>();
template const Operation& describe_operation<StoreRing>();
template const Operation& describe_operation<StorePaged>();
template const Operation& describe_operation<JointStorePaged>();

}  // namespace ingot
