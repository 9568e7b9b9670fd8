// What decoding does to queries, keys and values between their product and attention, in one step: queries and keys are
// turned (position.joint_rope), turned keys and values stored (cache.joint_store_paged).
//
//   (first_y, second_y) = (rope(first), rope(second))
//   (k_pages, v_pages)[slot(sequences[t], cache_positions[t])][h] = encode((second_y, values)[t, h])
//
// C1 to C5  as in position.joint_rope; and as in cache.joint_store_paged, with second_y for keys and cache_positions
// for
//           positions
// In place: first_y may be first, second_y may be second.
#pragma once

#include "kernels/cache/store.h"
#include "kernels/position/rope.h"

namespace ingot {

struct RotatedStorePaged {
  static constexpr std::string_view name = "cache.rotated_store_paged";
  static constexpr std::string_view equation =
      "(first_y, second_y) = (rope(first), rope(second)), "
      "(k_pages, v_pages)[slot(sequences[t], cache_positions[t])][h] = encode((second_y, values)[t, h])";
  static constexpr Backward backward = StorePaged::backward;
  static constexpr std::array in_place = JointRope::in_place;

  struct Arguments : JointRope::Arguments {
    View<const float> values;
    View<const std::int32_t> sequences;
    View<const std::int32_t> cache_positions;
    View<const std::int32_t> block_table;
    AnyView k_pages;
    AnyView v_pages;

    static constexpr auto fields() {
      return std::tuple_cat(JointRope::Arguments::fields(),
                            field_list(input(&Arguments::values, "values"), input(&Arguments::sequences, "sequences"),
                                       input(&Arguments::cache_positions, "cache_positions"),
                                       input(&Arguments::block_table, "block_table"),
                                       state(&Arguments::k_pages, "k_pages"), state(&Arguments::v_pages, "v_pages")));
    }
    JointStorePaged::Arguments store() const {
      return {second_y, values, sequences, cache_positions, block_table, k_pages, v_pages};
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RotatedStorePaged>> variants();
  static void cases(CaseList<RotatedStorePaged>& list);
};
extern const Variant<RotatedStorePaged> rotated_store_cuda;

// Pairs of a head that a launch can turn at once, which it must before it stores them.
inline constexpr std::int64_t most_rotated_pairs = 256;

}  // namespace ingot
