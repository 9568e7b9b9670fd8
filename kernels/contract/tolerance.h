// How far a variant may be from the reference, in units of the output type's epsilon, and why.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot {

// What an error is measured against. The reference value itself where each output stands alone; the largest value of
// its row or tensor where outputs are sums that may cancel.
enum class ErrorScale : std::uint8_t { element, row, tensor };

struct Tolerance {
  double epsilons = 0;  // 0: bit-exact
  ErrorScale scale = ErrorScale::element;
  std::string_view reason;
  // Where outputs are sums of products, their rounding follows the size of the terms, not of the result: errors are
  // measured against at least this much.
  double least_scale = 0;

  static constexpr Tolerance exact(std::string_view reason) { return {0, ErrorScale::element, reason, 0}; }
};

}  // namespace ingot
