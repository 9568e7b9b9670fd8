#include "profile/roofline.h"

#include <algorithm>

namespace ingot {
namespace {

double seconds(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

bool is_read(Role role) { return role != Role::output && role != Role::saved; }

}  // namespace

Arithmetic arithmetic_of(const Operation& operation, const Invocation& invocation) {
  Arithmetic found = Arithmetic::f32;
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    if (!operation.fields[index].is_tensor || !is_read(operation.fields[index].role)) continue;
    const ConstAnyView tensor = invocation.tensor(static_cast<int>(index));
    if (tensor.data() == nullptr) continue;
    const DType dtype = tensor.dtype();
    if (block_elements(dtype) > 1 || dtype == DType::i8 || dtype == DType::u8) return Arithmetic::int8;
    if (dtype == DType::bf16) found = Arithmetic::bf16;
    if (dtype == DType::f16 && found == Arithmetic::f32) found = Arithmetic::f16;
  }
  return found;
}

double peak_operations(Arithmetic arithmetic, const Peaks& peaks) {
  switch (arithmetic) {
    case Arithmetic::f32: return peaks.fma_flops;
    case Arithmetic::f16: return std::max(peaks.fma_flops, peaks.f16_flops);
    case Arithmetic::bf16: return std::max(peaks.fma_flops, peaks.bf16_flops);
    case Arithmetic::int8: return std::max({peaks.fma_flops, peaks.int8_dot_operations, peaks.int8_matrix_operations});
  }
  return peaks.fma_flops;
}

Roofline roofline_of(const Cost& cost, Arithmetic arithmetic_kind, const Peaks& peaks, Bytes cache) {
  const double arithmetic = seconds(cost.operations, peak_operations(arithmetic_kind, peaks));
  const bool is_in_cache = cost.bytes() <= static_cast<double>(cache.count()) / 2;
  const double movement = is_in_cache ? seconds(cost.bytes(), peaks.cache_read_bytes_per_second)
                                      : seconds(cost.bytes_read, peaks.read_bytes_per_second) +
                                            seconds(cost.bytes_written, peaks.write_bytes_per_second);
  if (arithmetic >= movement) return {arithmetic, Roof::arithmetic};
  return {movement, is_in_cache ? Roof::cache : Roof::memory};
}

}  // namespace ingot
