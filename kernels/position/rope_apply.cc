#include "kernels/position/rope_apply.h"

#include "kernels/contract/describe.h"
#include "kernels/position/rope_apply_cases.h"
#include "kernels/position/turn_row.h"

namespace ingot {
namespace {

// What is in the positions.
Result<void> check_table_rows(std::string_view name, const RopeApplyInputs& a) {
  for (std::int64_t token = 0; token < a.positions.size(0); ++token) {
    if (a.positions(token) < 0 || a.positions(token) >= a.cosine.size(0)) {
      return violated(name, "C3", "expected positions in [0, ", a.cosine.size(0), "), found ",
                      std::int64_t{a.positions(token)});
    }
  }
  return {};
}

Result<void> check_rope_apply(std::string_view name, const RopeApplyCall& call, std::string_view x,
                              std::string_view y) {
  const RopeApplyInputs& a = call.inputs;
  TRY(require_rank(name, "C1", x, call.x, 3));
  TRY(require_shape(name, "C1", y, call.y, call.x.shape()));
  TRY(require_contiguous_rows(name, "C1", x, call.x));
  TRY(require_contiguous_rows(name, "C1", y, call.y));
  TRY(require_rank(name, "C2", "cosine", a.cosine, 2));
  TRY(require_shape(name, "C2", "sine", a.sine, a.cosine.shape()));
  TRY(require_contiguous_rows(name, "C2", "cosine", a.cosine));
  TRY(require_contiguous_rows(name, "C2", "sine", a.sine));
  if (a.cosine.size(1) < 1 || a.cosine.size(1) > call.x.size(2) / 2) {
    return violated(name, "C2", "expected 1 to ", call.x.size(2) / 2, " pairs in a head of ", call.x.size(2),
                    ", found ", a.cosine.size(1));
  }
  if (is_present(a.positions)) {
    TRY(require_shape(name, "C3", "positions", a.positions, {call.x.size(0)}));
    if (a.positions.place().is_host()) TRY(check_table_rows(name, a));
  } else if (a.cosine.size(0) < call.x.size(0)) {
    return violated(name, "C3", "expected a table row for each of ", call.x.size(0), " tokens, found ",
                    a.cosine.size(0));
  }
  TRY(require_style(name, "C4", a.style));
  return require_direction(name, "C4", a.direction);
}

Cost rope_apply_cost(const RopeApplyCall& call) {
  const auto count = static_cast<double>(call.x.count());
  const auto turned = static_cast<double>(call.x.size(0) * call.x.size(1) * call.inputs.rotary_dimensions());
  const auto table = static_cast<double>(call.x.size(0) * call.inputs.rotary_dimensions());
  return {.operations = 3 * turned, .bytes_read = 4 * (count + table), .bytes_written = 4 * count};
}

constexpr Tolerance rope_apply_tolerance = {
    .epsilons = 2,
    .scale = ErrorScale::row,
    .reason = "a difference of two products that may cancel, measured against the head's largest element"};

void rope_apply_scalar(const RopeApplyCall& call) {
  const RopeApplyInputs& a = call.inputs;
  for (std::int64_t token = 0; token < call.x.size(0); ++token) {
    const std::int64_t row = a.row_of(token);
    for (std::int64_t head = 0; head < call.x.size(1); ++head) {
      turn_row(&call.x(token, head, 0), &call.y(token, head, 0), call.x.size(2), a.rotary_dimensions(), a.style,
               call.direction, [&](std::int64_t pair) { return Turn{a.cosine(row, pair), a.sine(row, pair)}; });
    }
  }
}

}  // namespace

void rope_apply_reference(const RopeApply::Arguments& arguments, Context&) { rope_apply_scalar(arguments.call()); }
void rope_apply_backward_reference(const RopeApplyBackward::Arguments& arguments, Context&) {
  rope_apply_scalar(arguments.call());
}

Result<void> RopeApply::check(const Arguments& a) { return check_rope_apply(name, a.call(), "x", "y"); }
Cost RopeApply::cost(const Arguments& a) { return rope_apply_cost(a.call()); }
Tolerance RopeApply::tolerance(const Arguments&) { return rope_apply_tolerance; }

std::span<const Variant<RopeApply>> RopeApply::variants() {
  static const Variant<RopeApply> table[] = {
      rope_apply_cuda,
      INGOT_SIMD_ROWS(rope_apply_simd),
      {"reference", {}, rope_apply_reference},
  };
  return table;
}

Result<void> RopeApplyBackward::check(const Arguments& a) { return check_rope_apply(name, a.call(), "dy", "dx"); }
Cost RopeApplyBackward::cost(const Arguments& a) { return rope_apply_cost(a.call()); }
Tolerance RopeApplyBackward::tolerance(const Arguments&) { return rope_apply_tolerance; }

std::span<const Variant<RopeApplyBackward>> RopeApplyBackward::variants() {
  static const Variant<RopeApplyBackward> table[] = {
      INGOT_SIMD_ROWS(rope_apply_backward_simd),
      {"reference", {}, rope_apply_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<RopeApply>();
template const Operation& describe_operation<RopeApplyBackward>();

}  // namespace ingot
