#include "kernels/linear/sparse/two_four_matmul.h"

#include "kernels/contract/describe.h"
#include "kernels/linear/sparse/two_four_matmul_cases.h"
#include "kernels/linear/sum_tolerance.h"
#include "kernels/linear/weights.h"

namespace ingot {
namespace {

// C3, of what lies in the host's memory.
template <class Op>
Result<void> check_positions(const View<const std::uint8_t>& positions) {
  for (std::int64_t n = 0; n < positions.size(0); ++n) {
    for (std::int64_t four = 0; four < positions.size(1); ++four) {
      const int packed = positions(n, four);
      if ((packed & 3) >= (packed >> 2)) {
        return violated(Op::name, "C3", "expected two rising positions below 4, found byte ", packed, " in row ", n,
                        " group ", four);
      }
      if (packed > 15) return violated(Op::name, "C3", "expected the high four bits clear, found byte ", packed);
    }
  }
  return {};
}

// C1 to C3 of both directions.
template <class Op>
Result<void> check_two_four(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "x", a.x, 2));
  TRY(require_contiguous_rows(Op::name, "C1", "x", a.x));
  const std::int64_t depth = a.x.size(1);
  if (depth % 4 != 0) return violated(Op::name, "C1", "expected rows of a multiple of 4, found x ", a.x.shape());
  TRY(require_rank(Op::name, "C2", "values", a.values, 2));
  const std::int64_t outputs = a.values.size(0);
  TRY(require_packed(Op::name, "C2", "values", a.values, {outputs, depth / 2}));
  TRY(require_packed(Op::name, "C2", "positions", a.positions, {outputs, depth / 4}));
  return a.positions.place().is_host() ? check_positions<Op>(a.positions) : Result<void>();
}

}  // namespace

Result<void> TwoFourMatmul::check(const Arguments& a) {
  TRY(check_two_four<TwoFourMatmul>(a));
  const std::int64_t outputs = a.values.size(0);
  if (is_present(a.bias)) TRY(require_packed(name, "C4", "bias", a.bias, {outputs}));
  return require_packed(name, "C4", "y", a.y, {a.x.size(0), outputs});
}

Cost TwoFourMatmul::cost(const Arguments& a) {
  return {.operations = 2.0 * static_cast<double>(a.x.size(0)) * static_cast<double>(a.values.count()),
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.values) + stored_bytes(a.positions),
          .bytes_written = stored_bytes(a.y)};
}

Tolerance TwoFourMatmul::tolerance(const Arguments& a) { return sum_tolerance(a.values.size(1) + 1, a.x, a.values); }

std::span<const Variant<TwoFourMatmul>> TwoFourMatmul::variants() {
  static constexpr auto dense_rows = [](const Arguments& a, int threads) {
    return static_cast<std::size_t>(a.x.size(1)) * sizeof(float) * static_cast<std::size_t>(threads);
  };
  static const Variant<TwoFourMatmul> table[] = {
      two_four_matmul_cuda,
      INGOT_SIMD_ROWS(two_four_matmul_simd, nullptr, dense_rows),
      {"reference", {}, two_four_matmul_reference},
  };
  return table;
}

Result<void> TwoFourMatmulBackward::check(const Arguments& a) {
  TRY(check_two_four<TwoFourMatmulBackward>(a));
  const std::int64_t outputs = a.values.size(0);
  TRY(require_packed(name, "C4", "dy", a.dy, {a.x.size(0), outputs}));
  if (is_present(a.dx)) TRY(require_packed(name, "C4", "dx", a.dx, a.x.shape()));
  if (is_present(a.dvalues)) TRY(require_packed(name, "C4", "dvalues", a.dvalues, a.values.shape()));
  if (is_present(a.dbias)) TRY(require_packed(name, "C4", "dbias", a.dbias, {outputs}));
  return {};
}

Cost TwoFourMatmulBackward::cost(const Arguments& a) {
  const double product = 2.0 * static_cast<double>(a.x.size(0)) * static_cast<double>(a.values.count());
  return {.operations = 2 * product,
          .bytes_read = stored_bytes(a.x) + stored_bytes(a.values) + stored_bytes(a.positions) + stored_bytes(a.dy),
          .bytes_written = stored_bytes(a.x) + stored_bytes(a.values)};
}

Tolerance TwoFourMatmulBackward::tolerance(const Arguments& a) {
  return sum_tolerance(std::max(a.values.size(0), a.x.size(0)), a.dy, a.values);
}

std::span<const Variant<TwoFourMatmulBackward>> TwoFourMatmulBackward::variants() {
  static const Variant<TwoFourMatmulBackward> table[] = {{"reference", {}, two_four_matmul_backward_reference}};
  return table;
}

template const Operation& describe_operation<TwoFourMatmul>();
template const Operation& describe_operation<TwoFourMatmulBackward>();

}  // namespace ingot
