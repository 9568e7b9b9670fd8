#include "kernels/layout/cast.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/cast_cases.h"
#include "kernels/layout/constraints.h"

namespace ingot {
namespace {

constexpr Tolerance cast_is_exact = Tolerance::exact("each number is rounded once, in a way the contract fixes");

// The vector source converts in f32 lanes, which 64-bit integers do not fit.
bool casts_in_float_lanes(const Cast::Arguments& a) {
  return a.x.dtype() == a.y.dtype() || (a.x.dtype() != DType::i64 && a.y.dtype() != DType::i64);
}

}  // namespace

Result<void> Cast::check(const Arguments& a) {
  TRY(require_plain(name, "C1", "x", a.x));
  TRY(require_plain(name, "C1", "y", a.y));
  return require_shape(name, "C2", "y", a.y, a.x.shape());
}

Cost Cast::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.x), .bytes_written = bytes_of(a.y)}; }

Tolerance Cast::tolerance(const Arguments&) { return cast_is_exact; }

std::span<const Variant<Cast>> Cast::variants() {
  static const Variant<Cast> table[] = {
      cast_cuda,
      INGOT_SIMD_ROWS(cast_simd, casts_in_float_lanes),
      {"reference", {}, cast_reference},
  };
  return table;
}

Result<void> CastBackward::check(const Arguments& a) {
  TRY(require_dtype(name, "C1", "dy", a.dy, {DType::f32, DType::f16, DType::bf16}));
  TRY(require_dtype(name, "C1", "dx", a.dx, {DType::f32, DType::f16, DType::bf16}));
  return require_shape(name, "C2", "dx", a.dx, a.dy.shape());
}

Cost CastBackward::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.dy), .bytes_written = bytes_of(a.dx)}; }

Tolerance CastBackward::tolerance(const Arguments&) { return cast_is_exact; }

std::span<const Variant<CastBackward>> CastBackward::variants() {
  static const Variant<CastBackward> table[] = {
      INGOT_SIMD_ROWS(cast_backward_simd),
      {"reference", {}, cast_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Cast>();
template const Operation& describe_operation<CastBackward>();

}  // namespace ingot
