// Rotary position embedding with given tables (position.rope_table's, or a model file's).
//
//   y as in position.rope, with c = cosine[n,i] and s = sine[n,i], n = positions[t], or t where there are no positions
//
// C1  x is [tokens, heads, D] with a packed last axis; y has its shape, and a packed last axis
// C2  cosine and sine are [N, R/2] with packed last axes; R is 2 or more and at most D
// C3  positions, where given, is [tokens] with entries in [0, N); where it is not, N >= tokens
// C4  style is half_split or interleaved; direction is forward or inverse
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/position/rotation.h"

namespace ingot {

struct RopeApplyInputs {
  View<const float> cosine;
  View<const float> sine;
  View<const std::int32_t> positions;
  PairStyle style = PairStyle::half_split;
  Direction direction = Direction::forward;

  static constexpr auto fields() {
    using Self = RopeApplyInputs;
    return field_list(input(&Self::cosine, "cosine"), input(&Self::sine, "sine"),
                      optional_input(&Self::positions, "positions"), attribute(&Self::style, "style"),
                      attribute(&Self::direction, "direction"));
  }

  std::int64_t rotary_dimensions() const { return 2 * cosine.size(1); }
  std::int64_t row_of(std::int64_t token) const { return is_present(positions) ? positions(token) : token; }
};

struct RopeApplyCall {
  const RopeApplyInputs& inputs;
  Direction direction;
  View<const float> x;
  View<float> y;
};

struct RopeApply {
  static constexpr std::string_view name = "position.rope_apply";
  static constexpr std::string_view equation = "(y_a, y_b) = (x_a c - x_b s, x_a s + x_b c), c and s from tables";
  static constexpr Backward backward = Backward::by("position.rope_apply_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments : RopeApplyInputs {
    View<const float> x;
    View<float> y;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::x, "x")), RopeApplyInputs::fields(),
                            field_list(output(&Arguments::y, "y")));
    }
    RopeApplyCall call() const { return {*this, direction, x, y}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RopeApply>> variants();
  static void cases(CaseList<RopeApply>& list);
};

// Its backward: dx is dy turned the opposite way; the tables are constants.
//
// C1 to C4  as in position.rope_apply, dy for x and dx for y
// In place: dx may be dy.
struct RopeApplyBackward {
  static constexpr std::string_view name = "position.rope_apply_backward";
  static constexpr std::string_view equation = "(dx_a, dx_b) = (dy_a c + dy_b s, dy_b c - dy_a s)";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments : RopeApplyInputs {
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::dy, "dy")), RopeApplyInputs::fields(),
                            field_list(output(&Arguments::dx, "dx")));
    }
    RopeApplyCall call() const { return {*this, opposite(direction), dy, dx}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RopeApplyBackward>> variants();
  static void cases(CaseList<RopeApplyBackward>& list);
};

void rope_apply_reference(const RopeApply::Arguments& arguments, Context& context);
void rope_apply_backward_reference(const RopeApplyBackward::Arguments& arguments, Context& context);
extern const SimdEntries<RopeApply> rope_apply_simd;
extern const Variant<RopeApply> rope_apply_cuda;
extern const SimdEntries<RopeApplyBackward> rope_apply_backward_simd;

}  // namespace ingot
