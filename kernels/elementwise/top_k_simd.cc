// Vector selection: a row is compared with the least of the k best so far, a vector at a time.
#include "hwy/cache_control.h"
#include "kernels/elementwise/top_k.h"
#include "kernels/vector/order_key.h"
#include "kernels/vector/simd_targets.h"
#include "kernels/vector/top_heap.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/top_k_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/vector/order_key-inl.h"
#include "kernels/vector/stretch_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void top_k(const ElementwiseTopK::Arguments& arguments, Context& context) {
  const Rows x(arguments.x);
  const Rows values(arguments.values);
  const Rows indices(arguments.indices);
  const std::int64_t length = x.length();
  const std::int64_t k = values.length();
  auto* memory = reinterpret_cast<std::int64_t*>(context.scratch.data());
  const std::int64_t row_bytes = length * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(x.count(), rows_per_chunk(row_bytes),
                             [&](std::int64_t begin, std::int64_t end, int worker) {
                               TopHeap heap(memory + worker * k, k);
                               for (std::int64_t row = begin; row < end; ++row) {
                                 select_top<NaNOrder::greatest>(x[row], length, arguments.largest ? 0 : -1, heap);
                                 heap.sort();
                                 for (std::int64_t j = 0; j < k; ++j) {
                                   const std::int64_t index = index_of(heap[j]);
                                   indices[row][j] = static_cast<std::int32_t>(index);
                                   values[row][j] = x[row][index];
                                 }
                               }
                             });
}

void top_k_backward(const ElementwiseTopKBackward::Arguments& arguments, Context& context) {
  const Rows indices(arguments.indices);
  const Rows dvalues(arguments.dvalues);
  const Rows dx(arguments.dx);
  const std::int64_t row_bytes = dx.length() * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(dx.count(), rows_per_chunk(row_bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      map_stretch(Identity{}, dx[row], dx.length(), Repeated{0});
      for (std::int64_t j = 0; j < indices.length(); ++j) dx[row][indices[row][j]] += dvalues[row][j];
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<ElementwiseTopK> top_k_simd = INGOT_SIMD_ENTRIES(top_k);
const SimdEntries<ElementwiseTopKBackward> top_k_backward_simd = INGOT_SIMD_ENTRIES(top_k_backward);
}  // namespace ingot
#endif
