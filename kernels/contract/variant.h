// A variant: one implementation of a contract, as a row of that contract's constant table.
#pragma once

#include "kernels/contract/context.h"
#include "kernels/contract/row_function.h"
#include "machine/features.h"
#include "machine/gpu/device_function.h"

namespace ingot {

template <class Op>
struct Variant {
  using Arguments = typename Op::Arguments;

  std::string_view name;
  FeatureSet needs;  // what the machine must have
  // Null where this build holds no code for it (another architecture): the row stays listed as not built.
  RowFunction<void(const Arguments&, Context&)> run = nullptr;
  // Shapes it takes, beyond the contract's constraints; null: all.
  RowFunction<bool(const Arguments&)> accepts = nullptr;
  RowFunction<std::size_t(const Arguments&, int threads)> scratch_bytes = nullptr;
  // Shapes it takes where neighbours must never show (table.h): it gives a row the bits that the row has by itself,
  // and so does whatever is chosen for fewer rows or more. Null: as `accepts`, which holds wherever no variant looks at
  // how many rows there are.
  RowFunction<bool(const Arguments&)> accepts_alone = nullptr;
  // A row of a device: one of the functions that it puts into the context's queue, which tells whether this program
  // carries them. Its tensors and scratch lie on that device. Null: a row of the host.
  const DeviceFunction* device_function = nullptr;
};

// One vector source compiled for every target; null where this build has none (see simd_targets.h).
template <class Op>
struct SimdEntries {
  using Function = void (*)(const typename Op::Arguments&, Context&);
  Function avx512 = nullptr;
  Function avx2 = nullptr;
  Function sse4 = nullptr;
  Function neon = nullptr;
};

}  // namespace ingot

// In a variant table: the four rows of one vector source, best first. Further arguments (accepts, scratch_bytes) apply
// to each row.
#define INGOT_SIMD_ROWS(entries, ...)                                                  \
  {"avx512", {::ingot::Feature::avx512}, (entries).avx512 __VA_OPT__(, ) __VA_ARGS__}, \
      {"avx2", {::ingot::Feature::avx2}, (entries).avx2 __VA_OPT__(, ) __VA_ARGS__},   \
      {"sse4", {::ingot::Feature::sse4}, (entries).sse4 __VA_OPT__(, ) __VA_ARGS__}, { \
    "neon", {::ingot::Feature::neon}, (entries).neon __VA_OPT__(, ) __VA_ARGS__        \
  }
