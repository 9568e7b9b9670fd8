#include "kernels/layout/strided_window.h"

#include <algorithm>

#include "kernels/contract/reference_walk.h"
#include "tensor/rows.h"

namespace ingot {

void strided_window_reference(const StridedWindow::Arguments& arguments, Context&) {
  move_reference(windowed(arguments.x, arguments.length, arguments.step), arguments.y);
}

void strided_window_backward_reference(const StridedWindowBackward::Arguments& arguments, Context&) {
  if (arguments.dx.empty()) return;
  const Rows dx(arguments.dx);
  const Rows dy(arguments.dy);  // a row a window
  const std::int64_t length = arguments.length;
  const std::int64_t step = arguments.step;
  const std::int64_t windows = window_count(dx.length(), length, step);
  for (std::int64_t row = 0; row < dx.count(); ++row) {
    for (std::int64_t position = 0; position < dx.length(); ++position) {
      double sum = 0;
      // Windows that reach this position: w step <= position < w step + length.
      const std::int64_t first = position < length ? 0 : (position - length) / step + 1;
      const std::int64_t end = std::min(windows, position / step + 1);
      for (std::int64_t window = first; window < end; ++window) {
        sum += dy[row * windows + window][position - window * step];
      }
      dx[row][position] = static_cast<float>(sum);
    }
  }
}

}  // namespace ingot
