#include "kernels/linear/product_input.h"

#include "kernels/contract/magnitude.h"

namespace ingot {

Result<void> require_product_input(std::string_view operation, std::string_view number, const ProductInput& input,
                                   std::initializer_list<ConstAnyView> weights) {
  const bool has_codes = input.is_coded();
  if (has_codes == is_present(input.x) || has_codes != is_present(input.scales) ||
      has_codes != is_present(input.sums)) {
    return violated(operation, number, "expected x, or codes with scales and sums in its place");
  }
  const ConstAnyView rows = has_codes ? ConstAnyView(input.codes) : ConstAnyView(input.x);
  TRY(require_rank(operation, number, has_codes ? "codes" : "x", rows, 2));
  TRY(require_contiguous_rows(operation, number, has_codes ? "codes" : "x", rows));
  if (!has_codes) return {};
  const int block = block_elements(weights.begin()->dtype());
  for (const ConstAnyView& view : weights) {
    if (is_present(view) && (block == 1 || block_elements(view.dtype()) != block)) {
      return violated(operation, number, "expected weights in formats of one block, as codes are, found ",
                      view.dtype());
    }
  }
  TRY(require_packed(operation, number, "scales", input.scales, {rows.size(0), rows.size(1) / block}));
  return require_packed(operation, number, "sums", input.sums, {rows.size(0), rows.size(1) / code_group});
}

double stored_bytes_of(const ProductInput& input) {
  if (!input.is_coded()) return stored_bytes(input.x);
  return stored_bytes(input.codes) + stored_bytes(input.scales) + stored_bytes(input.sums);
}

double largest_magnitude_of(const ProductInput& input) {
  return input.is_coded() ? 127 * largest_magnitude(input.scales) : largest_magnitude(input.x);
}

}  // namespace ingot
