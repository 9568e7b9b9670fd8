// The Unicode tables that make_unicode_tables.py writes; unicode.h and normalization.h are what others include.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::unicode_tables {

struct CodeRange {
  std::uint32_t first, last;
};
// Every step-th code point of first..last has its lower case `distance` above it.
struct LowercaseRun {
  std::uint32_t first, last, step;
  std::int32_t distance;
};
struct CombiningRun {
  std::uint32_t first, last;
  std::uint8_t order;
};
struct Composition {
  std::uint32_t first, second, composed;
};

// Code point << 5 | general category, where the category changes.
extern const std::uint32_t category_starts[];
extern const std::size_t category_starts_size;
extern const LowercaseRun lowercase_runs[];
extern const std::size_t lowercase_runs_size;
extern const CodeRange han[], hiragana[], katakana[], hangul[];
extern const std::size_t han_size, hiragana_size, katakana_size, hangul_size;

// Code point << 1 | is compatibility; the parts lie in the pool, the first with their count << 24.
extern const std::uint32_t decomposition_codes[];
extern const std::size_t decomposition_codes_size;
extern const std::uint16_t decomposition_offsets[];
extern const std::size_t decomposition_offsets_size;
extern const std::uint32_t decomposition_pool[];
extern const std::size_t decomposition_pool_size;
extern const Composition compositions[];
extern const std::size_t compositions_size;
extern const CombiningRun combining_runs[];
extern const std::size_t combining_runs_size;

}  // namespace ingot::unicode_tables
