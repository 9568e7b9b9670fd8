// Memory is one line of bytes; strides say how a tensor of any rank lies along it.
#include <cstdint>

#include "docs/learn/lesson.h"
#include "tensor/any_view.h"

using ingot::Strides;
using ingot::View;

int main() {
  std::int32_t numbers[6] = {1, 2, 3, 4, 5, 6};
  const View<std::int32_t> matrix(numbers, {2, 3});
  fact(matrix.strides() == Strides{3, 1}, "row-major: the next row is 3 elements on, the next column 1");
  fact(ingot::AnyView(matrix).byte_strides() == Strides{12, 4}, "in bytes, with 4-byte elements: 12 and 4");
  fact(&matrix(1, 2) == numbers + 1 * 3 + 2 * 1, "an element's place is the sum of index times stride");
  fact(matrix.is_contiguous(), "no gaps, in order: contiguous");

  const View<std::int32_t> columns(numbers, {2, 3}, {1, 2});
  fact(columns(0, 1) == 3 && columns(1, 0) == 2, "column-major is the same bytes under other strides");
  fact(!columns.is_contiguous(), "its elements are all there, but not in index order");

  const View<std::int32_t> turned = matrix.transposed(0, 1).value();
  fact(turned.strides() == Strides{1, 3} && turned.data() == numbers, "transposing swaps strides and moves nothing");
  const View<std::int32_t> every_second = View<std::int32_t>(numbers, {6}).slice(0, 0, 6, 2).value();
  fact(every_second(2) == 5, "a slice with a step is a larger stride");
  const View<std::int32_t> repeated = matrix[0].broadcast_to({4, 3}).value();
  fact(repeated.stride(0) == 0 && repeated(3, 1) == 2, "broadcasting is a stride of 0: the same bytes, seen again");
  const View<std::int32_t> windows = View<std::int32_t>(numbers, {6}).windows(3, 1).value();
  fact(windows.size(0) == 4 && &windows(0, 1) == &windows(1, 0), "windows overlap: neighbours share elements");
  fact(!turned.reshaped({6}).ok(), "a transposed view cannot be reshaped without a copy, and says so");
}
