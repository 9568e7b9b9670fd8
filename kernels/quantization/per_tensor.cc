#include "kernels/quantization/per_tensor.h"

#include "kernels/contract/describe.h"
#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_tensor_cases.h"

namespace ingot {
namespace {

// What both directions ask; `codes` names the side of 8-bit integers.
template <class Arguments>
Result<void> check_per_tensor(std::string_view name, const Arguments& a, std::string_view codes_field,
                              const ConstAnyView& codes, std::string_view codes_number) {
  TRY(require_rank_between(name, "C1", "x", a.x, 1, max_rank));
  TRY(require_code_types(name, codes_number, codes_field, codes, a.zero_point));
  TRY(require_shape(name, "C2", "y", a.y, a.x.shape()));
  TRY(require_shape(name, "C3", "scale", a.scale, {1}));
  if (is_present(a.zero_point)) TRY(require_shape(name, "C3", "zero_point", a.zero_point, {1}));
  TRY(require_contiguous_rows(name, "C4", "x", a.x));
  TRY(require_contiguous_rows(name, "C4", "y", a.y));
  return {};
}

}  // namespace

Result<void> QuantizePerTensor::check(const Arguments& a) { return check_per_tensor(name, a, "y", a.y, "C2"); }

Cost QuantizePerTensor::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 3 * count, .bytes_read = 4 * count, .bytes_written = count};
}

Tolerance QuantizePerTensor::tolerance(const Arguments&) {
  return Tolerance::exact("division and rounding are exact operations of IEEE 754");
}

std::span<const Variant<QuantizePerTensor>> QuantizePerTensor::variants() {
  static const Variant<QuantizePerTensor> table[] = {
      quantize_per_tensor_cuda,
      INGOT_SIMD_ROWS(quantize_per_tensor_simd),
      {"reference", {}, quantize_per_tensor_reference},
  };
  return table;
}

Result<void> DequantizePerTensor::check(const Arguments& a) { return check_per_tensor(name, a, "x", a.x, "C1"); }

Cost DequantizePerTensor::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 2 * count, .bytes_read = count, .bytes_written = 4 * count};
}

Tolerance DequantizePerTensor::tolerance(const Arguments&) {
  return Tolerance::exact("one rounded product of an exact difference");
}

std::span<const Variant<DequantizePerTensor>> DequantizePerTensor::variants() {
  static const Variant<DequantizePerTensor> table[] = {
      dequantize_per_tensor_cuda,
      INGOT_SIMD_ROWS(dequantize_per_tensor_simd),
      {"reference", {}, dequantize_per_tensor_reference},
  };
  return table;
}

template const Operation& describe_operation<QuantizePerTensor>();
template const Operation& describe_operation<DequantizePerTensor>();

}  // namespace ingot
