// Ways of multiplying x by weights in two parts: x is prepared once (as it is, as codes, as panels of codes), then any
// thread multiplies any columns of y. linear.matmul, and forms that are made of several products or go on with what one
// gave while it is in cache, are written once over this list: each way is a row of each of their tables.
#pragma once

#include <span>

#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/ways/floats/gemm.h"

namespace ingot {

struct ColumnProduct {
  std::string_view name;
  FeatureSet needs;
  SimdTarget target;  // whose vectors go with it
  bool built = false;
  bool (*accepts)(const Matmul::Arguments& arguments) = nullptr;
  // Where neighbours must never show (kernels/contract/table.h); null: never. What is accepted so sums in one order:
  // "One order of sums" in the README.
  bool (*accepts_alone)(const Matmul::Arguments& arguments) = nullptr;
  std::size_t (*prepared_bytes)(const Matmul::Arguments& arguments) = nullptr;
  std::size_t (*workspace_bytes)(const Matmul::Arguments& arguments) = nullptr;  // of each thread; null: none
  // Worth handing to a thread: a multiple of the columns that are multiplied together.
  std::int64_t (*chunk_columns)(const Matmul::Arguments& arguments) = nullptr;
  // Where rows of x may be handed out as well, a few at a time (0: never): x prepared for a row lies so many bytes on.
  std::int64_t chunk_rows = 0;
  std::size_t (*prepared_offset)(const Matmul::Arguments& arguments, std::int64_t row) = nullptr;
  // The most rows that are prepared and multiplied together; more of them go in turns. Null: any number.
  std::int64_t (*rows_together)(const Matmul::Arguments& arguments) = nullptr;
  // What is prepared depends on x and the type of the weights alone.
  void (*prepare)(const Matmul::Arguments& arguments, Workers& workers, std::byte* prepared) = nullptr;
  // All columns of these arguments, on this thread. Arguments are those of prepare, or columns_of them, or rows_of
  // them (then `prepared` has moved on to the first of the rows).
  void (*multiply)(const Matmul::Arguments& columns, const std::byte* prepared, std::byte* workspace) = nullptr;
};

// Best first.
std::span<const ColumnProduct> column_products();

// Whether products of some rows of x multiply columns as weights lie, rather than pack panels of floats.
constexpr bool multiplies_as_weights_lie(DType weight_type, std::int64_t rows) {
  return is_block_format(weight_type) || rows <= float_dot_rows;
}

// Columns `begin` to `end` of a product: their rows of weights, their bias, their part of y.
inline Matmul::Arguments columns_of(const Matmul::Arguments& all, std::int64_t begin, std::int64_t end) {
  Matmul::Arguments part = all;
  const ConstAnyView& w = all.weights;
  part.weights = ConstAnyView(w.row(begin), w.dtype(), {end - begin, w.size(1)}, w.byte_strides());
  if (is_present(all.bias)) part.bias = View<const float>(all.bias.data() + begin, {end - begin});
  float* first = all.y.data() == nullptr ? nullptr : all.y.data() + begin;  // whoever leaves it out says where later
  part.y = View<float>(first, {all.y.size(0), end - begin}, all.y.strides());
  return part;
}

// Rows `begin` to `end` of a product.
inline Matmul::Arguments rows_of(const Matmul::Arguments& all, std::int64_t begin, std::int64_t end) {
  const auto some = [&]<class Element>(const View<Element>& of) {
    Element* first = of.data() == nullptr ? nullptr : of.data() + begin * of.stride(0);  // codes may stand for x
    return View<Element>(first, {end - begin, of.size(1)}, of.strides());
  };
  Matmul::Arguments part = all;
  part.x = some(all.x);
  part.y = some(all.y);
  if (!all.is_coded()) return part;
  part.codes = some(all.codes);
  part.scales = some(all.scales);
  part.sums = some(all.sums);
  return part;
}

}  // namespace ingot
