// CaseBuilder: makes the tensors of a test case from a seed. It poisons what a kernel must write, and can lay the same
// case out in several ways, so that one description of shapes serves parity, benchmark, gradient and mutation runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "kernels/contract/fields.h"

namespace ingot {

// What kind of numbers a case holds.
enum class Regime : std::uint8_t {
  ordinary,  // normal(0, 1)
  large,     // magnitudes around 1e15: squares stay finite, cubes do not
  tiny,      // denormals and their neighbours
  specials,  // NaN and infinities sprinkled over ordinary numbers
  zeros,
  gradient,  // distinct values away from zero, so that finite differences cross no kink and no tie
};
inline constexpr int regime_count = 6;
std::string_view name_of(Regime regime);

// How the tensors lie in memory.
enum class LayoutStyle : std::uint8_t {
  packed,      // contiguous, 64-byte aligned
  padded,      // gaps between rows
  misaligned,  // contiguous, one element off alignment
};
std::string_view name_of(LayoutStyle style);

// What a single tensor is filled with.
struct Fill {
  enum class Kind : std::uint8_t { regime, uniform, integers, constant };
  Kind kind = Kind::regime;
  double low = 0;
  double high = 0;

  static Fill values() { return {}; }                                                  // whatever the regime says
  static Fill uniform(double low, double high) { return {Kind::uniform, low, high}; }  // in every regime
  static Fill indices(std::int64_t limit) { return {Kind::integers, 0, static_cast<double>(limit)}; }  // [0, limit)
  static Fill integers(double low, double high) { return {Kind::integers, low, high}; }                // [low, high)
  static Fill constant(double value) { return {Kind::constant, value, value}; }
};

// Whether a tensor follows the case's LayoutStyle or stays packed because its contract says so.
enum class Packing : std::uint8_t { any, contiguous };

class CaseBuilder {
 public:
  CaseBuilder(std::uint64_t seed, Regime regime, LayoutStyle style, std::uint8_t poison);
  CaseBuilder(const CaseBuilder&) = delete;
  CaseBuilder& operator=(const CaseBuilder&) = delete;

  Regime regime() const { return regime_; }

  // A tensor with data in it: an input, a weight, a state.
  template <class Element = float>
  View<Element> filled(const Shape& shape, Fill fill = Fill::values(), Packing packing = Packing::any) {
    return filled_any(dtype_of<Element>(), shape, fill, packing).template as<Element>();
  }
  // A poisoned tensor: an output.
  template <class Element = float>
  View<Element> blank(const Shape& shape, Packing packing = Packing::any) {
    return blank_any(dtype_of<Element>(), shape, packing).template as<Element>();
  }
  // Block formats are filled by encoding random numbers: arbitrary bytes would be mostly NaN scales.
  AnyView filled_any(DType dtype, const Shape& shape, Fill fill = Fill::values(), Packing packing = Packing::any);
  AnyView blank_any(DType dtype, const Shape& shape, Packing packing = Packing::any);

  std::uint64_t random();                          // next 64 random bits
  double random_uniform(double low, double high);  // in [low, high)
  std::int64_t random_index(std::int64_t limit);   // in [0, limit)

 private:
  AnyView allocate(DType dtype, const Shape& shape, Packing packing);
  void fill(const AnyView& view, Fill fill);
  double next_value(Fill fill, std::int64_t index, std::int64_t count);

  RandomNumbers random_;
  Regime regime_;
  LayoutStyle style_;
  std::uint8_t poison_;
  std::vector<std::vector<std::byte>> storages_;
};

}  // namespace ingot
