#include "model/files/ggml_types.h"

#include <array>

namespace ingot {

namespace {

constexpr GgmlType usable(std::int32_t number, DType dtype) {
  return {number, name_of(dtype), block_elements(dtype), block_bytes(dtype), dtype};
}
constexpr GgmlType known(std::int32_t number, std::string_view name, int elements, int bytes) {
  return {number, name, elements, bytes, std::nullopt};
}
constexpr GgmlType removed(std::int32_t number, std::string_view name) { return {number, name, 0, 0, std::nullopt}; }

constexpr std::array table = {
    usable(0, DType::f32),      usable(1, DType::f16),      usable(2, DType::q4_0),     usable(3, DType::q4_1),
    removed(4, "q4_2"),         removed(5, "q4_3"),         usable(6, DType::q5_0),     usable(7, DType::q5_1),
    usable(8, DType::q8_0),     known(9, "q8_1", 32, 36),   usable(10, DType::q2_k),    usable(11, DType::q3_k),
    usable(12, DType::q4_k),    usable(13, DType::q5_k),    usable(14, DType::q6_k),    known(15, "q8_k", 256, 292),
    usable(16, DType::iq2_xxs), usable(17, DType::iq2_xs),  usable(18, DType::iq3_xxs), usable(19, DType::iq1_s),
    usable(20, DType::iq4_nl),  usable(21, DType::iq3_s),   usable(22, DType::iq2_s),   usable(23, DType::iq4_xs),
    usable(24, DType::i8),      known(25, "i16", 1, 2),     usable(26, DType::i32),     usable(27, DType::i64),
    known(28, "f64", 1, 8),     usable(29, DType::iq1_m),   usable(30, DType::bf16),    removed(31, "q4_0_4_4"),
    removed(32, "q4_0_4_8"),    removed(33, "q4_0_8_8"),    usable(34, DType::tq1_0),   usable(35, DType::tq2_0),
    removed(36, "iq4_nl_4_4"),  removed(37, "iq4_nl_4_8"),  removed(38, "iq4_nl_8_8"),  usable(39, DType::mxfp4),
    usable(40, DType::nvfp4),   known(41, "q1_0", 128, 18), known(42, "q2_0", 64, 18),
};

constexpr bool is_in_order() {
  for (std::size_t index = 0; index < table.size(); ++index) {
    if (table[index].number != static_cast<std::int32_t>(index)) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

const GgmlType* find_ggml_type(std::int32_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= table.size()) return nullptr;
  return &table[static_cast<std::size_t>(number)];
}

const GgmlType* find_ggml_type(DType dtype) {
  for (const GgmlType& type : table) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

}  // namespace ingot
