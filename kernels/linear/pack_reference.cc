// Scalar truth: where each byte goes, by the layout's definition.
#include "kernels/linear/interleaved.h"
#include "kernels/linear/pack.h"

namespace ingot {
namespace {

// function(byte of the rows, byte of the packed matrix), both counted from the beginning of row n's bytes and of all.
template <class Function>
void for_each_byte(DType dtype, std::int64_t row, std::int64_t depth, Function function) {
  const std::int64_t block = block_bytes(dtype);
  const std::int64_t blocks = depth / block_elements(dtype);
  const std::int64_t lane = row % interleaved_rows;
  const std::int64_t first = (row - lane) * blocks * block;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t group = first + b * interleaved_rows * block;
    for (std::int64_t byte = 0; byte < 2; ++byte) function(b * block + byte, group + 2 * lane + byte);
    for (std::int64_t code = 0; code < block - 2; ++code) {
      function(b * block + 2 + code,
               group + 2 * interleaved_rows + (code / 4 * interleaved_rows + lane) * 4 + code % 4);
    }
  }
}

}  // namespace

void pack_reference(const Pack::Arguments& a, Context&) {
  for (std::int64_t row = 0; row < a.rows.size(0); ++row) {
    for_each_byte(a.rows.dtype(), row, a.rows.size(1), [&](std::int64_t in_row, std::int64_t in_packed) {
      a.packed.data()[in_packed] = a.rows.row(row)[in_row];
    });
  }
}

void unpack_reference(const Unpack::Arguments& a, Context&) {
  for (std::int64_t row = 0; row < a.rows.size(0); ++row) {
    for_each_byte(a.rows.dtype(), row, a.rows.size(1), [&](std::int64_t in_row, std::int64_t in_packed) {
      a.rows.row(row)[in_row] = a.packed.data()[in_packed];
    });
  }
}

}  // namespace ingot
