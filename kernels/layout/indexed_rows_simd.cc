// Vector variants of the operations that read or add whole rows by index, and of the overlap-add of windows.
//
// Sums of rows with one index must come in index order whatever the thread count, so threads share the columns: each
// walks all indices over its own strip of the table.
#include <algorithm>

#include "kernels/layout/gather_rows.h"
#include "kernels/layout/movement.h"
#include "kernels/layout/scatter_add.h"
#include "kernels/layout/strided_window.h"
#include "kernels/vector/simd_targets.h"
#include "tensor/rows.h"
#include "tensor/subview.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layout/indexed_rows_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/layout/move-inl.h"
#include "kernels/vector/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void add_stretch(const float* x, float* y, std::int64_t count) {
  const FloatTag d;
  constexpr auto lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
  std::int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto sum0 = hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i));
    const auto sum1 = hn::Add(hn::LoadU(d, y + i + lanes), hn::LoadU(d, x + i + lanes));
    hn::StoreU(sum0, d, y + i);
    hn::StoreU(sum1, d, y + i + lanes);
  }
  for (; i < count; ++i) y[i] += x[i];
}

template <class Element>
void gather_stretch(const std::byte* row, float* y, std::int64_t count) {
  if constexpr (std::is_same_v<Element, float>) {
    copy_stretch(row, reinterpret_cast<std::byte*>(y), count * static_cast<std::int64_t>(sizeof(float)));
  } else {
    convert_stretch(reinterpret_cast<const Element*>(row), y, count);
  }
}

template <class Element>
void gather_elements(const ConstAnyView& table, const View<const std::int32_t>& indices, const View<float>& y,
                     Context& context) {
  const Rows rows(y);
  const std::int64_t bytes = rows.length() * static_cast<std::int64_t>(sizeof(Element) + sizeof(float));
  context.workers.for_chunks(rows.count(), rows_per_chunk(bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      gather_stretch<Element>(table.row(indices.data()[i]), rows[i], rows.length());
    }
  });
}

void gather_rows(const GatherRows::Arguments& a, Context& context) {
  if (!has_elements(a.y.shape())) return;
  switch (a.table.dtype()) {
    case DType::f16: return gather_elements<Half>(a.table, a.indices, a.y, context);
    case DType::bf16: return gather_elements<BFloat16>(a.table, a.indices, a.y, context);
    default: return gather_elements<float>(a.table, a.indices, a.y, context);
  }
}

// y += x's rows by index.
void add_rows(const View<const float>& x, const View<const std::int32_t>& indices, const View<float>& y,
              Context& context) {
  if (!has_elements(x.shape())) return;
  const Rows rows(x);
  constexpr std::int64_t strip = 256;  // columns: 1 KiB of each row, wide enough for the prefetcher
  context.workers.for_chunks(y.size(1), strip, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = 0; i < rows.count(); ++i) {
      add_stretch(rows[i] + begin, y.data() + indices.data()[i] * y.stride(0) + begin, end - begin);
    }
  });
}

void gather_rows_backward(const GatherRowsBackward::Arguments& a, Context& context) {
  zero_elements(a.dtable, context);
  add_rows(a.dy, a.indices, a.dtable, context);
}

void scatter_add(const ScatterAdd::Arguments& a, Context& context) {
  if (!is_present(a.base)) {
    zero_elements(a.y, context);
  } else if (a.base.data() != a.y.data()) {
    move_elements(a.base, a.y, context);
  }
  add_rows(a.x, a.indices, a.y, context);
}

void scatter_add_backward(const ScatterAddBackward::Arguments& a, Context& context) {
  if (has_elements(a.dx.shape())) gather_elements<float>(a.dy, a.indices, a.dx, context);
  if (is_present(a.dbase) && a.dbase.data() != a.dy.data()) move_elements(a.dy, a.dbase, context);
}

// A row of dx collects its windows one after the other.
void strided_window_backward(const StridedWindowBackward::Arguments& a, Context& context) {
  if (!has_elements(a.dx.shape())) return;
  const Rows dx(a.dx);
  const Rows dy(a.dy);
  const std::int64_t windows = window_count(dx.length(), a.length, a.step);
  const std::int64_t bytes = (dx.length() + windows * a.length) * static_cast<std::int64_t>(sizeof(float));
  context.workers.for_chunks(dx.count(), rows_per_chunk(bytes), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t row = begin; row < end; ++row) {
      zero_stretch(reinterpret_cast<std::byte*>(dx[row]), dx.length() * static_cast<std::int64_t>(sizeof(float)));
      for (std::int64_t window = 0; window < windows; ++window) {
        add_stretch(dy[row * windows + window], dx[row] + window * a.step, a.length);
      }
    }
  });
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<GatherRows> gather_rows_simd = INGOT_SIMD_ENTRIES(gather_rows);
const SimdEntries<GatherRowsBackward> gather_rows_backward_simd = INGOT_SIMD_ENTRIES(gather_rows_backward);
const SimdEntries<ScatterAdd> scatter_add_simd = INGOT_SIMD_ENTRIES(scatter_add);
const SimdEntries<ScatterAddBackward> scatter_add_backward_simd = INGOT_SIMD_ENTRIES(scatter_add_backward);
const SimdEntries<StridedWindowBackward> strided_window_backward_simd = INGOT_SIMD_ENTRIES(strided_window_backward);
}  // namespace ingot
#endif
