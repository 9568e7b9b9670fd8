#include "kernels/layout/strided_window.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/constraints.h"
#include "kernels/layout/strided_window_cases.h"
#include "tensor/subview.h"

namespace ingot {
namespace {

// C1 to C3 of both: `signal` is what windows are laid over.
Result<void> check_windows(std::string_view name, std::string_view signal_name, const ConstAnyView& signal,
                           std::string_view windows_name, const ConstAnyView& windows, std::int64_t length,
                           std::int64_t step) {
  TRY(require_rank_between(name, "C1", signal_name, signal, 1, max_rank - 1));
  const std::int64_t size = signal.shape().last();
  if (length < 1 || length > size || step < 1) {
    return violated(name, "C2", "expected 1 <= length <= ", size, " and step >= 1, found length ", length, " step ",
                    step);
  }
  Shape shape = signal.shape();
  shape[signal.rank() - 1] = window_count(size, length, step);
  shape.push_back(length);
  return require_shape(name, "C3", windows_name, windows, shape);
}

}  // namespace

Result<void> StridedWindow::check(const Arguments& a) {
  TRY(require_plain(name, "C1", "x", a.x));
  TRY(check_windows(name, "x", a.x, "y", a.y, a.length, a.step));
  return require_dtype(name, "C3", "y", a.y, {a.x.dtype()});
}

Cost StridedWindow::cost(const Arguments& a) { return {.bytes_read = bytes_of(a.x), .bytes_written = bytes_of(a.y)}; }

Tolerance StridedWindow::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<StridedWindow>> StridedWindow::variants() {
  static const Variant<StridedWindow> table[] = {
      strided_window_cuda,
      INGOT_SIMD_ROWS(strided_window_simd),
      {"reference", {}, strided_window_reference},
  };
  return table;
}

Result<void> StridedWindowBackward::check(const Arguments& a) {
  TRY(check_windows(name, "dx", a.dx, "dy", a.dy, a.length, a.step));
  TRY(require_contiguous_rows(name, "C4", "dx", a.dx));
  return require_contiguous_rows(name, "C4", "dy", a.dy);
}

Cost StridedWindowBackward::cost(const Arguments& a) {
  return {
      .operations = static_cast<double>(a.dy.count()), .bytes_read = bytes_of(a.dy), .bytes_written = bytes_of(a.dx)};
}

Tolerance StridedWindowBackward::tolerance(const Arguments& a) {
  // As many terms as windows lie over one element; each addition rounds once.
  return {.epsilons = static_cast<double>((a.length - 1) / a.step + 1),
          .scale = ErrorScale::tensor,
          .reason = "a float sum of the windows over an element, which may cancel"};
}

std::span<const Variant<StridedWindowBackward>> StridedWindowBackward::variants() {
  static const Variant<StridedWindowBackward> table[] = {
      INGOT_SIMD_ROWS(strided_window_backward_simd),
      {"reference", {}, strided_window_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<StridedWindow>();
template const Operation& describe_operation<StridedWindowBackward>();

}  // namespace ingot
