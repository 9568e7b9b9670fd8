// What every product of this family takes for x: floats, or the 8-bit codes that it would make of them, which somebody
// made already (quantization.quantize_activations, norm.coded_rms_norm); and how its weights lie.
#pragma once

#include "kernels/contract/constraints.h"
#include "kernels/linear/coded_x.h"
#include "kernels/linear/weights.h"

namespace ingot {

// One of the two, x or the three that follow it.
struct ProductInput {
  View<const float> x;
  View<const std::int8_t> codes;
  View<const float> scales;
  View<const std::int32_t> sums;
  WeightLayout layout = WeightLayout::rows;

  static constexpr auto fields() {
    return field_list(optional_input(&ProductInput::x, "x"), optional_input(&ProductInput::codes, "codes"),
                      optional_input(&ProductInput::scales, "scales"), optional_input(&ProductInput::sums, "sums"),
                      attribute(&ProductInput::layout, "layout"));
  }

  bool is_coded() const { return is_present(codes); }
  const Shape& shape() const { return is_coded() ? codes.shape() : x.shape(); }
  CodedX coded() const {
    if (!is_coded()) return {};
    return {codes.data(), scales.data(), sums.data(), codes.stride(0), scales.stride(0), sums.stride(0)};
  }
  // x with its shape in any case, and without data where codes stand in its place: as ways of multiplying take it.
  View<const float> shaped_x() const { return is_coded() ? View<const float>(nullptr, codes.shape()) : x; }
};

// C1 of every product: x has shape [M, K] and packed rows. Or x is left out, codes has that shape, scales
// [M, K / block] and sums [M, K / 16], with packed rows, and all weights are block formats of that block.
Result<void> require_product_input(std::string_view operation, std::string_view number, const ProductInput& input,
                                   std::initializer_list<ConstAnyView> weights);
double stored_bytes_of(const ProductInput& input);
// No element of x is beyond.
double largest_magnitude_of(const ProductInput& input);

}  // namespace ingot
