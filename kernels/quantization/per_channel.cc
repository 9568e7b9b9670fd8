#include "kernels/quantization/per_channel.h"

#include "kernels/contract/describe.h"
#include "kernels/quantization/affine_codes.h"
#include "kernels/quantization/per_channel_cases.h"

namespace ingot {
namespace {

// What both directions ask; `codes` names the side of 8-bit integers.
template <class Arguments>
Result<void> check_per_channel(std::string_view name, const Arguments& a, std::string_view codes_field,
                               const ConstAnyView& codes, std::string_view codes_number) {
  TRY(require_rank_between(name, "C1", "x", a.x, 1, max_rank));
  if (a.axis < 0 || a.axis >= a.x.rank()) {
    return violated(name, "C1", "expected an axis in [0, ", a.x.rank(), "), found ", a.axis);
  }
  TRY(require_code_types(name, codes_number, codes_field, codes, a.zero_point));
  TRY(require_shape(name, "C2", "y", a.y, a.x.shape()));
  const Shape channels = {a.x.size(a.axis)};
  TRY(require_shape(name, "C3", "scale", a.scale, channels));
  TRY(require_contiguous(name, "C4", "scale", a.scale));
  if (is_present(a.zero_point)) {
    TRY(require_shape(name, "C3", "zero_point", a.zero_point, channels));
    TRY(require_contiguous(name, "C4", "zero_point", a.zero_point));
  }
  TRY(require_contiguous(name, "C4", "x", a.x));
  TRY(require_contiguous(name, "C4", "y", a.y));
  return {};
}

}  // namespace

Result<void> QuantizePerChannel::check(const Arguments& a) { return check_per_channel(name, a, "y", a.y, "C2"); }

Cost QuantizePerChannel::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 3 * count, .bytes_read = 4 * count, .bytes_written = count};
}

Tolerance QuantizePerChannel::tolerance(const Arguments&) {
  return Tolerance::exact("division and rounding are exact operations of IEEE 754");
}

std::span<const Variant<QuantizePerChannel>> QuantizePerChannel::variants() {
  static const Variant<QuantizePerChannel> table[] = {
      quantize_per_channel_cuda,
      INGOT_SIMD_ROWS(quantize_per_channel_simd),
      {"reference", {}, quantize_per_channel_reference},
  };
  return table;
}

Result<void> DequantizePerChannel::check(const Arguments& a) { return check_per_channel(name, a, "x", a.x, "C1"); }

Cost DequantizePerChannel::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 2 * count, .bytes_read = count, .bytes_written = 4 * count};
}

Tolerance DequantizePerChannel::tolerance(const Arguments&) {
  return Tolerance::exact("one rounded product of an exact difference");
}

std::span<const Variant<DequantizePerChannel>> DequantizePerChannel::variants() {
  static const Variant<DequantizePerChannel> table[] = {
      dequantize_per_channel_cuda,
      INGOT_SIMD_ROWS(dequantize_per_channel_simd),
      {"reference", {}, dequantize_per_channel_reference},
  };
  return table;
}

template const Operation& describe_operation<QuantizePerChannel>();
template const Operation& describe_operation<DequantizePerChannel>();

}  // namespace ingot
