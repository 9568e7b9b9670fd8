// How far a variant may be from the reference, in units of the output type's epsilon, and why.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ingot {

// What an error is measured against. The reference value itself where each output stands alone; the largest value of
// its row or tensor where outputs are sums that may cancel.
enum class ErrorScale : std::uint8_t { element, row, tensor };

// The size of the terms of one output, where it is another sum than the rest.
struct FieldScale {
  std::string_view field;
  double least_scale = 0;
};

struct Tolerance {
  double epsilons = 0;  // 0: bit-exact
  ErrorScale scale = ErrorScale::element;
  std::string_view reason;
  // Where outputs are sums of products, their rounding follows the size of the terms, not of the result: errors are
  // measured against at least this much.
  double least_scale = 0;
  std::array<FieldScale, 2> of_fields = {};
  int integer_steps = 0;  // how far integer outputs may be off that are rounded from numbers which are rounded

  constexpr double least_scale_of(std::string_view field) const {
    for (const FieldScale& named : of_fields) {
      if (named.field == field) return named.least_scale;
    }
    return least_scale;
  }

  static constexpr Tolerance exact(std::string_view reason) { return {.reason = reason}; }
};

}  // namespace ingot
