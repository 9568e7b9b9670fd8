#include "kernels/elementwise/top_k.h"

#include <limits>

#include "kernels/contract/describe.h"
#include "kernels/elementwise/checks.h"
#include "kernels/elementwise/top_k_cases.h"
#include "tensor/rows.h"

namespace ingot {
namespace {

// C1 to C3 but for the contents of indices.
Result<void> check_top_k_shapes(std::string_view name, std::string_view rows_name, const ConstAnyView& rows,
                                std::string_view values_name, const ConstAnyView& values, const ConstAnyView& indices) {
  TRY(elementwise::require_any_elements(name, "C1", rows_name, rows));
  const std::int64_t length = rows.shape().last();
  if (length < 1 || length > std::numeric_limits<std::int32_t>::max()) {
    return violated(name, "C1", "expected a last axis of 1 to 2^31 - 1 elements, found ", rows_name, " ", rows.shape());
  }
  Shape shape = rows.shape();
  if (values.rank() == shape.rank()) shape[shape.rank() - 1] = values.shape().last();
  if (shape.last() < 1 || shape.last() > length) {
    return violated(name, "C2", "expected ", values_name, " with a last axis of 1 to ", length, ", found ",
                    values.shape());
  }
  TRY(elementwise::require_elements(name, "C2", values_name, values, shape));
  return elementwise::require_elements(name, "C3", "indices", indices, shape);
}

// The rest of C3. Indices on a device are not read here: who puts them there vouches for them.
Result<void> check_top_k_indices(std::string_view name, const View<const std::int32_t>& view, std::int64_t length) {
  if (!view.place().is_host()) return {};
  const Rows indices(view);
  for (std::int64_t row = 0; row < indices.count(); ++row) {
    for (std::int64_t j = 0; j < indices.length(); ++j) {
      const std::int32_t index = indices[row][j];
      if (index < 0 || index >= length) {
        return violated(name, "C3", "expected indices in [0, ", length, "), found ", index, " in row ", row);
      }
    }
  }
  return {};
}

std::size_t top_k_scratch(const ElementwiseTopK::Arguments& a, int threads) {
  return static_cast<std::size_t>(a.values.shape().last() * threads) * sizeof(std::int64_t);
}

}  // namespace

Result<void> ElementwiseTopK::check(const Arguments& a) {
  return check_top_k_shapes(name, "x", a.x, "values", a.values, a.indices);
}

Cost ElementwiseTopK::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = count, .bytes_read = 4 * count, .bytes_written = 8 * static_cast<double>(a.values.count())};
}

Tolerance ElementwiseTopK::tolerance(const Arguments&) { return Tolerance::exact("a choice in a total order"); }

std::span<const Variant<ElementwiseTopK>> ElementwiseTopK::variants() {
  static const Variant<ElementwiseTopK> table[] = {
      top_k_cuda,
      INGOT_SIMD_ROWS(top_k_simd, nullptr, top_k_scratch),
      {"reference", {}, top_k_reference},
  };
  return table;
}

Result<void> ElementwiseTopKBackward::check(const Arguments& a) {
  TRY(check_top_k_shapes(name, "dx", a.dx, "dvalues", a.dvalues, a.indices));
  return check_top_k_indices(name, a.indices, a.dx.shape().last());
}

Cost ElementwiseTopKBackward::cost(const Arguments& a) {
  return {.operations = static_cast<double>(a.dvalues.count()),
          .bytes_read = 8 * static_cast<double>(a.dvalues.count()),
          .bytes_written = 4 * static_cast<double>(a.dx.count())};
}

Tolerance ElementwiseTopKBackward::tolerance(const Arguments&) {
  return Tolerance::exact("copies; equal indices add in a fixed order");
}

std::span<const Variant<ElementwiseTopKBackward>> ElementwiseTopKBackward::variants() {
  static const Variant<ElementwiseTopKBackward> table[] = {
      INGOT_SIMD_ROWS(top_k_backward_simd),
      {"reference", {}, top_k_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<ElementwiseTopK>();
template const Operation& describe_operation<ElementwiseTopKBackward>();

}  // namespace ingot
