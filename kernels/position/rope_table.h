// The cosines and sines of rotation.h as tables, for kernels that are given them.
//
//   cosine[n,i] = m cos(positions[n] frequency[i]),  sine[n,i] = m sin(positions[n] frequency[i]),  m =
//   attention_factor
//
// C1  positions is [n]
// C2  R1 to R6 of rotation.h
// C3  cosine and sine have shape [n, R/2]
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/position/rotation.h"

namespace ingot {

struct RopeTable {
  static constexpr std::string_view name = "position.rope_table";
  static constexpr std::string_view equation = "cosine[n,i] = m cos(positions[n] frequency[i]), sine likewise";
  static constexpr Backward backward = Backward::none("positions are whole numbers, and nothing else varies");

  struct Arguments : RotationAttributes {
    View<const std::int32_t> positions;
    View<float> cosine;
    View<float> sine;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::positions, "positions")), RotationAttributes::fields(),
                            field_list(output(&Arguments::cosine, "cosine"), output(&Arguments::sine, "sine")));
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RopeTable>> variants();
  static void cases(CaseList<RopeTable>& list);
};

void rope_table_reference(const RopeTable::Arguments& arguments, Context& context);
extern const Variant<RopeTable> rope_table_cuda;

}  // namespace ingot
