#include "kernels/position/rope.h"

#include "kernels/contract/describe.h"
#include "kernels/position/rope_cases.h"

namespace ingot {
namespace {

// What is in the sections.
Result<void> check_section_pairs(std::string_view name, const RopeInputs& a) {
  std::int64_t pairs = 0;
  for (std::int64_t section = 0; section < a.sections.size(0); ++section) {
    if (a.sections(section) < 0)
      return violated(name, "C3", "expected sections of 0 or more pairs, found a negative one");
    pairs += a.sections(section);
  }
  if (pairs == a.rotary_dimensions / 2) return {};
  return violated(name, "C3", "expected sections that add up to ", a.rotary_dimensions / 2, " pairs, found ", pairs);
}

Result<void> check_sections(std::string_view name, const RopeInputs& a, std::int64_t tokens) {
  if (!is_present(a.sections)) return require_shape(name, "C2", "positions", a.positions, {tokens});
  TRY(require_rank(name, "C3", "sections", a.sections, 1));
  if (a.sections.size(0) < 1) return violated(name, "C3", "expected a section or more, found none");
  TRY(require_shape(name, "C2", "positions", a.positions, {a.sections.size(0), tokens}));
  return a.sections.place().is_host() ? check_section_pairs(name, a) : Result<void>();
}

Result<void> check_rope(std::string_view name, const RopeCall& call, std::string_view x, std::string_view y) {
  TRY(require_rank(name, "C1", x, call.x, 3));
  TRY(require_shape(name, "C1", y, call.y, call.x.shape()));
  TRY(require_contiguous_rows(name, "C1", x, call.x));
  TRY(require_contiguous_rows(name, "C1", y, call.y));
  TRY(check_rotation(name, "C4", call.inputs));
  if (call.inputs.rotary_dimensions > call.x.size(2)) {
    return violated(name, "C4", "expected rotary_dimensions within heads of ", call.x.size(2), ", found ",
                    call.inputs.rotary_dimensions);
  }
  TRY(check_sections(name, call.inputs, call.x.size(0)));
  TRY(require_style(name, "C5", call.inputs.style));
  return require_direction(name, "C5", call.inputs.direction);
}

Cost rope_cost(const RopeCall& call) {
  const auto count = static_cast<double>(call.x.count());
  const auto turned = static_cast<double>(call.x.size(0) * call.x.size(1) * call.inputs.rotary_dimensions);
  const std::int64_t pairs = call.inputs.rotary_dimensions / 2;
  const auto angles = static_cast<double>(call.x.size(0) * pairs);
  return {.operations = 3 * turned + 30 * angles,
          .bytes_read = 4 * (count + static_cast<double>(call.x.size(0))),
          .bytes_written = 4 * count};
}

constexpr Tolerance rope_tolerance = {
    .epsilons = 4,
    .scale = ErrorScale::row,
    .reason = "a difference of two products that may cancel, measured against the head's largest element"};

// Frequencies in double, then a row of cosines and one of sines for each worker, with room for whole vectors.
std::size_t rope_scratch(const RopeInputs& inputs, int threads) {
  const auto padded = static_cast<std::size_t>(inputs.rotary_dimensions / 2 + turn_padding);
  return padded * (sizeof(double) + static_cast<std::size_t>(threads) * 2 * sizeof(float));
}

}  // namespace

Result<void> Rope::check(const Arguments& a) { return check_rope(name, a.call(), "x", "y"); }
Cost Rope::cost(const Arguments& a) { return rope_cost(a.call()); }
Tolerance Rope::tolerance(const Arguments&) { return rope_tolerance; }
std::size_t rope_scratch_bytes(const Rope::Arguments& a, int threads) { return rope_scratch(a, threads); }

std::span<const Variant<Rope>> Rope::variants() {
  static const Variant<Rope> table[] = {
      rope_cuda,
      INGOT_SIMD_ROWS(rope_simd, nullptr, rope_scratch_bytes),
      {"reference", {}, rope_reference},
  };
  return table;
}

Result<void> check_joint_rope(std::string_view operation, const JointRope::Arguments& a) {
  const auto [first, second] = a.calls();
  TRY(check_rope(operation, first, "first", "first_y"));
  return check_rope(operation, second, "second", "second_y");
}

Result<void> JointRope::check(const Arguments& a) { return check_joint_rope(name, a); }

Cost JointRope::cost(const Arguments& a) {
  const auto [first, second] = a.calls();
  const Cost of_first = rope_cost(first);
  const Cost of_second = rope_cost(second);
  return {.operations = of_first.operations + of_second.operations,
          .bytes_read = of_first.bytes_read + of_second.bytes_read,
          .bytes_written = of_first.bytes_written + of_second.bytes_written};
}

Tolerance JointRope::tolerance(const Arguments&) { return rope_tolerance; }

std::span<const Variant<JointRope>> JointRope::variants() {
  static const Variant<JointRope> table[] = {
      joint_rope_cuda,
      {"reference", {}, joint_rope_reference},
  };
  return table;
}

Result<void> RopeBackward::check(const Arguments& a) { return check_rope(name, a.call(), "dy", "dx"); }
Cost RopeBackward::cost(const Arguments& a) { return rope_cost(a.call()); }
Tolerance RopeBackward::tolerance(const Arguments&) { return rope_tolerance; }
std::size_t rope_backward_scratch_bytes(const RopeBackward::Arguments& a, int threads) {
  return rope_scratch(a, threads);
}

std::span<const Variant<RopeBackward>> RopeBackward::variants() {
  static const Variant<RopeBackward> table[] = {
      INGOT_SIMD_ROWS(rope_backward_simd, nullptr, rope_backward_scratch_bytes),
      {"reference", {}, rope_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Rope>();
template const Operation& describe_operation<JointRope>();
template const Operation& describe_operation<RopeBackward>();

}  // namespace ingot
