#include "profile/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/contract/case_builder.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

// The distance from 1 to the next number.
double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    default: return 0x1p-23;
  }
}

// Below the smallest normal number precision is absolute, so errors are measured against it there.
double smallest_normal_of(DType dtype) { return dtype == DType::f16 ? 0x1p-14 : 0x1p-126; }

// All elements in index order, as doubles.
std::vector<double> values_of(const ConstAnyView& view) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(view.count()));
  if (is_block_format(view.dtype())) {
    std::vector<float> block(static_cast<std::size_t>(block_elements(view.dtype())));
    for_each_block(view, [&](std::int64_t offset) {
      decode_row(view.dtype(), view.data() + offset, block.data(), static_cast<std::int64_t>(block.size()));
      values.insert(values.end(), block.begin(), block.end());
    });
    return values;
  }
  with_element_type(view.dtype(), [&]<class Element>() {
    for_each_block(view, [&](std::int64_t offset) {
      Element element;
      std::memcpy(&element, view.data() + offset, sizeof(element));
      if constexpr (std::is_integral_v<Element>) {
        values.push_back(static_cast<double>(element));
      } else {
        values.push_back(static_cast<double>(static_cast<float>(element)));
      }
    });
  });
  return values;
}

double largest_finite(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double largest = 0;
  for (std::size_t index = begin; index < end; ++index) {
    if (std::isfinite(values[index])) largest = std::max(largest, std::fabs(values[index]));
  }
  return largest;
}

// Infinity where the two disagree in kind (NaN against a number, infinities of opposite signs).
double error_of(double expected, double found) {
  if (std::isnan(expected) || std::isnan(found)) {
    return std::isnan(expected) && std::isnan(found) ? 0 : HUGE_VAL;
  }
  if (std::isinf(expected) || std::isinf(found)) return expected == found ? 0 : HUGE_VAL;
  return std::fabs(expected - found);
}

}  // namespace

Comparison compare_outputs(const ConstAnyView& expected, const ConstAnyView& found, const Tolerance& tolerance) {
  Comparison comparison;
  if (expected.empty()) return comparison;
  const bool is_exact =
      !is_floating_point(expected.dtype()) && (tolerance.epsilons == 0 || !is_block_format(expected.dtype()));
  if (is_exact && bit_equal(expected, found)) return comparison;

  const std::vector<double> wanted = values_of(expected);
  const std::vector<double> got = values_of(found);
  const double epsilon = epsilon_of(expected.dtype());
  const double floor = std::max(tolerance.least_scale, smallest_normal_of(expected.dtype()));
  const std::size_t count = wanted.size();
  const std::size_t row = tolerance.scale == ErrorScale::row && expected.rank() > 0
                              ? static_cast<std::size_t>(expected.shape().last())
                              : count;
  for (std::size_t begin = 0; begin < count; begin += row) {
    const double row_scale = tolerance.scale == ErrorScale::element ? 0 : largest_finite(wanted, begin, begin + row);
    for (std::size_t index = begin; index < begin + row; ++index) {
      const double error = error_of(wanted[index], got[index]);
      const double own = std::isfinite(wanted[index]) ? std::fabs(wanted[index]) : 0;
      const double scale = std::max({own, row_scale, floor});
      const double epsilons = is_exact ? (error <= tolerance.integer_steps ? 0 : HUGE_VAL) : error / (epsilon * scale);
      comparison.worst_epsilons = std::max(comparison.worst_epsilons, epsilons);
      if (epsilons <= tolerance.epsilons || !comparison.within_tolerance) continue;
      comparison.within_tolerance = false;
      comparison.mismatch = "element " + std::to_string(index) + " of " + std::to_string(count) + ": expected " +
                            std::to_string(wanted[index]) + ", found " + std::to_string(got[index]) + " (" +
                            std::to_string(epsilons) + " epsilons, tolerance " + std::to_string(tolerance.epsilons) +
                            ")";
    }
  }
  if (is_exact && comparison.within_tolerance && tolerance.integer_steps == 0) {  // same values, different bits
    comparison.within_tolerance = false;
    comparison.worst_epsilons = HUGE_VAL;
    comparison.mismatch = "bytes differ where the contract asks for bit equality";
  }
  return comparison;
}

bool bit_equal(const ConstAnyView& first, const ConstAnyView& second) {
  std::vector<std::int64_t> offsets;
  for_each_block(first, [&](std::int64_t offset) { offsets.push_back(offset); });
  std::size_t index = 0;
  bool equal = true;
  for_each_block(second, [&](std::int64_t offset) {
    const auto bytes = static_cast<std::size_t>(block_bytes(first.dtype()));
    equal = equal && std::memcmp(first.data() + offsets[index++], second.data() + offset, bytes) == 0;
  });
  return equal;
}

}  // namespace ingot
