// Rotary position embedding, angles and rotation in one pass. With c, s the cosine and sine of rotation.h's angles:
//
//   y[t,h,a] = x[t,h,a] c - x[t,h,b] s      for each pair (a, b) of the first R elements of a head, by style
//   y[t,h,b] = x[t,h,a] s + x[t,h,b] c
//   y[t,h,d] = x[t,h,d]                     for d >= R = rotary_dimensions
//
// direction inverse turns the other way (s becomes -s). Token t stands at positions[t]. With sections (multi-section
// positions of images and video) there is a row of positions per section: the first sections[0] pairs take their
// position from row 0, the next sections[1] from row 1, and so on.
//
// C1  x is [tokens, heads, D] with a packed last axis; y has its shape, and a packed last axis
// C2  positions is [tokens], or [n, tokens] where sections is given
// C3  sections, where given, is [n] with n >= 1; its entries are not negative and add up to R/2
// C4  R1 to R6 of rotation.h, and R <= D
// C5  style is half_split or interleaved; direction is forward or inverse
// In place: y may be x.
#pragma once

#include "kernels/contract/contract.h"
#include "kernels/position/rotation.h"

namespace ingot {

// What turning forward and turning back share.
struct RopeInputs : RotationAttributes {
  View<const std::int32_t> positions;
  View<const std::int32_t> sections;
  PairStyle style = PairStyle::half_split;
  Direction direction = Direction::forward;

  static constexpr auto fields() {
    return std::tuple_cat(
        field_list(input(&RopeInputs::positions, "positions"), optional_input(&RopeInputs::sections, "sections")),
        RotationAttributes::fields(),
        field_list(attribute(&RopeInputs::style, "style"), attribute(&RopeInputs::direction, "direction")));
  }

  // The position that pair `pair` of token `token` turns by, section by section: calls turn(begin, end, position) for
  // pairs [begin, end).
  template <class Visit>
  void for_each_section(std::int64_t token, Visit&& turn) const {
    if (!is_present(sections)) {
      turn(std::int64_t{0}, rotary_dimensions / 2, std::int64_t{positions(token)});
      return;
    }
    std::int64_t begin = 0;
    for (std::int64_t section = 0; section < sections.size(0); ++section) {
      const std::int64_t end = begin + sections(section);
      turn(begin, end, std::int64_t{positions(section, token)});
      begin = end;
    }
  }
};

// One rotation of x into y, whichever operation asked for it.
struct RopeCall {
  const RopeInputs& inputs;
  Direction direction;
  View<const float> x;
  View<float> y;
};

struct Rope {
  static constexpr std::string_view name = "position.rope";
  static constexpr std::string_view equation =
      "(y_a, y_b) = (x_a c - x_b s, x_a s + x_b c), angle = position frequency";
  static constexpr Backward backward = Backward::by("position.rope_backward");
  static constexpr std::array in_place = {InPlace{"y", "x"}};

  struct Arguments : RopeInputs {
    View<const float> x;
    View<float> y;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::x, "x")), RopeInputs::fields(),
                            field_list(output(&Arguments::y, "y")));
    }
    RopeCall call() const { return {*this, direction, x, y}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<Rope>> variants();
  static void cases(CaseList<Rope>& list);
};

// Queries and keys of the same tokens, turned together: what x and y are to position.rope, first and second are here.
//
// C1 to C5  as in position.rope, for both
// In place: first_y may be first, second_y may be second.
struct JointRope {
  static constexpr std::string_view name = "position.joint_rope";
  static constexpr std::string_view equation = "(first_y, second_y) = (rope(first), rope(second))";
  static constexpr Backward backward = Backward::none("joined for inference; training turns them one by one");
  static constexpr std::array in_place = {InPlace{"first_y", "first"}, InPlace{"second_y", "second"}};

  struct Arguments : RopeInputs {
    View<const float> first;
    View<const float> second;
    View<float> first_y;
    View<float> second_y;

    static constexpr auto fields() {
      return std::tuple_cat(
          field_list(input(&Arguments::first, "first"), input(&Arguments::second, "second")), RopeInputs::fields(),
          field_list(output(&Arguments::first_y, "first_y"), output(&Arguments::second_y, "second_y")));
    }
    std::array<RopeCall, 2> calls() const {
      return {{{*this, direction, first, first_y}, {*this, direction, second, second_y}}};
    }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<JointRope>> variants();
  static void cases(CaseList<JointRope>& list);
};

// Its backward: dx is dy turned the opposite way.
//
// C1 to C5  as in position.rope, dy for x and dx for y
// In place: dx may be dy.
struct RopeBackward {
  static constexpr std::string_view name = "position.rope_backward";
  static constexpr std::string_view equation = "(dx_a, dx_b) = (dy_a c + dy_b s, dy_b c - dy_a s)";
  static constexpr Backward backward = Backward::none("first derivatives only");
  static constexpr std::array in_place = {InPlace{"dx", "dy"}};

  struct Arguments : RopeInputs {
    View<const float> dy;
    View<float> dx;

    static constexpr auto fields() {
      return std::tuple_cat(field_list(input(&Arguments::dy, "dy")), RopeInputs::fields(),
                            field_list(output(&Arguments::dx, "dx")));
    }
    RopeCall call() const { return {*this, opposite(direction), dy, dx}; }
  };

  static Result<void> check(const Arguments& arguments);
  static Cost cost(const Arguments& arguments);
  static Tolerance tolerance(const Arguments& arguments);
  static std::span<const Variant<RopeBackward>> variants();
  static void cases(CaseList<RopeBackward>& list);
};

// Its constraints, for operations that turn and do more.
Result<void> check_joint_rope(std::string_view operation, const JointRope::Arguments& arguments);

void rope_reference(const Rope::Arguments& arguments, Context& context);
void joint_rope_reference(const JointRope::Arguments& arguments, Context& context);
void rope_backward_reference(const RopeBackward::Arguments& arguments, Context& context);
extern const SimdEntries<Rope> rope_simd;
extern const Variant<Rope> rope_cuda;
extern const Variant<JointRope> joint_rope_cuda;
extern const SimdEntries<RopeBackward> rope_backward_simd;
// A vector of angles may reach this far behind the last pair (see turn-inl.h).
inline constexpr std::int64_t turn_padding = 8;
std::size_t rope_scratch_bytes(const Rope::Arguments& arguments, int threads);
std::size_t rope_backward_scratch_bytes(const RopeBackward::Arguments& arguments, int threads);

}  // namespace ingot
