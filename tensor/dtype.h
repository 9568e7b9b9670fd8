// Element types and quantized block formats. One enumeration names both: a block format is a type whose elements are
// stored in groups, so a tensor of it has an element count but no address for a single element.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "tensor/half.h"

namespace ingot {

enum class DType : std::uint8_t {
  f32,
  f16,
  bf16,
  i8,
  u8,
  i32,
  i64,
  // GGUF block formats
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  mxfp4,
  iq4_xs,
  // read by their own scalar code alone (tensor/generic_formats.h)
  iq3_s,
  iq3_xxs,
  iq2_s,
  iq2_xs,
  iq2_xxs,
  iq1_m,
  iq1_s,
  tq2_0,
  tq1_0,
  nvfp4,
};

struct DTypeInformation {
  DType dtype;
  std::string_view name;
  int block_elements;  // 1 for plain types
  int block_bytes;
};

inline constexpr std::array<DTypeInformation, 30> dtype_table = {{
    {DType::f32, "f32", 1, 4},
    {DType::f16, "f16", 1, 2},
    {DType::bf16, "bf16", 1, 2},
    {DType::i8, "i8", 1, 1},
    {DType::u8, "u8", 1, 1},
    {DType::i32, "i32", 1, 4},
    {DType::i64, "i64", 1, 8},
    {DType::q4_0, "q4_0", 32, 18},
    {DType::q4_1, "q4_1", 32, 20},
    {DType::q5_0, "q5_0", 32, 22},
    {DType::q5_1, "q5_1", 32, 24},
    {DType::q8_0, "q8_0", 32, 34},
    {DType::q2_k, "q2_k", 256, 84},
    {DType::q3_k, "q3_k", 256, 110},
    {DType::q4_k, "q4_k", 256, 144},
    {DType::q5_k, "q5_k", 256, 176},
    {DType::q6_k, "q6_k", 256, 210},
    {DType::iq4_nl, "iq4_nl", 32, 18},
    {DType::mxfp4, "mxfp4", 32, 17},
    {DType::iq4_xs, "iq4_xs", 256, 136},
    {DType::iq3_s, "iq3_s", 256, 110},
    {DType::iq3_xxs, "iq3_xxs", 256, 98},
    {DType::iq2_s, "iq2_s", 256, 82},
    {DType::iq2_xs, "iq2_xs", 256, 74},
    {DType::iq2_xxs, "iq2_xxs", 256, 66},
    {DType::iq1_m, "iq1_m", 256, 56},
    {DType::iq1_s, "iq1_s", 256, 50},
    {DType::tq2_0, "tq2_0", 256, 66},
    {DType::tq1_0, "tq1_0", 256, 54},
    {DType::nvfp4, "nvfp4", 64, 36},
}};

constexpr const DTypeInformation& information(DType dtype) { return dtype_table[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view name_of(DType dtype) { return information(dtype).name; }
constexpr int block_elements(DType dtype) { return information(dtype).block_elements; }
constexpr int block_bytes(DType dtype) { return information(dtype).block_bytes; }
constexpr bool is_block_format(DType dtype) { return block_elements(dtype) > 1; }
// Formats that only a scalar function reads, a block at a time: products take them by generic ways.
constexpr bool is_generic_format(DType dtype) { return dtype >= DType::iq3_s; }
constexpr bool is_floating_point(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

constexpr std::optional<DType> dtype_by_name(std::string_view name) {
  for (const auto& row : dtype_table) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

constexpr bool dtype_table_is_in_enumeration_order() {
  for (std::size_t index = 0; index < dtype_table.size(); ++index) {
    if (static_cast<std::size_t>(dtype_table[index].dtype) != index) return false;
  }
  return true;
}
static_assert(dtype_table_is_in_enumeration_order());

// The DType of a C++ element type.
template <class Element>
constexpr DType dtype_of() {
  using Plain = std::remove_cv_t<Element>;
  if constexpr (std::is_same_v<Plain, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<Plain, Half>)
    return DType::f16;
  else if constexpr (std::is_same_v<Plain, BFloat16>)
    return DType::bf16;
  else if constexpr (std::is_same_v<Plain, std::int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<Plain, std::uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<Plain, std::int32_t>)
    return DType::i32;
  else {
    static_assert(std::is_same_v<Plain, std::int64_t>, "no DType for this element type");
    return DType::i64;
  }
}

// Calls function.template operator()<Element>() for a plain dtype; block formats have no element type.
// Precondition: !is_block_format(dtype).
template <class Function>
constexpr decltype(auto) with_element_type(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::f16: return function.template operator()<Half>();
    case DType::bf16: return function.template operator()<BFloat16>();
    case DType::i8: return function.template operator()<std::int8_t>();
    case DType::u8: return function.template operator()<std::uint8_t>();
    case DType::i32: return function.template operator()<std::int32_t>();
    case DType::i64: return function.template operator()<std::int64_t>();
    default: return function.template operator()<float>();
  }
}

template <class Text>
constexpr void describe(DType dtype, Text& text) {
  text.append(name_of(dtype));
}

}  // namespace ingot
