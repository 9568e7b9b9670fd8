#include "kernels/layout/concat.h"

#include "kernels/contract/describe.h"
#include "kernels/layout/concat_cases.h"
#include "kernels/layout/constraints.h"

namespace ingot {
namespace {

constexpr std::string_view concat_part_names[] = {"a", "b", "c", "d"};
constexpr std::string_view concat_gradient_names[] = {"da", "db", "dc", "dd"};

// Each part has `model`'s shape but for the axis; gives the sum of their sizes along it.
template <class Parts>
Result<std::int64_t> check_parts(std::string_view name, const Parts& parts, std::span<const std::string_view> names,
                                 const Shape& model, std::int64_t axis) {
  std::int64_t total = 0;
  for (std::size_t index = 0; index < parts.size(); ++index) {
    if (!is_present(parts[index])) continue;
    const ConstAnyView part(parts[index]);
    TRY(require_rank(name, "C2", names[index], part, model.rank()));
    Shape shape = model;
    shape[static_cast<int>(axis)] = part.size(static_cast<int>(axis));
    TRY(require_shape(name, "C2", names[index], part, shape));
    // An empty part may claim any size, so that the sum of sizes can overflow.
    const Result<std::int64_t> sum = checked_add(total, part.size(static_cast<int>(axis)));
    if (!sum.ok()) return violated(name, "C3", sum.error().text());
    total = sum.value();
  }
  return total;
}

}  // namespace

Result<void> Concat::check(const Arguments& arguments) {
  TRY(require_rank_between(name, "C1", "a", arguments.a, 1, max_rank));
  TRY(require_axis(name, "C1", "axis", arguments.axis, arguments.a.rank()));
  const auto parts = arguments.parts();
  for (std::size_t index = 1; index < parts.size(); ++index) {
    if (is_present(parts[index])) {
      TRY(require_dtype(name, "C2", concat_part_names[index], parts[index], {arguments.a.dtype()}));
    }
  }
  Shape shape = arguments.a.shape();
  shape[static_cast<int>(arguments.axis)] = TRY(check_parts(name, parts, concat_part_names, shape, arguments.axis));
  TRY(require_dtype(name, "C3", "y", arguments.y, {arguments.a.dtype()}));
  return require_shape(name, "C3", "y", arguments.y, shape);
}

Cost Concat::cost(const Arguments& arguments) {
  return {.bytes_read = bytes_of(arguments.y), .bytes_written = bytes_of(arguments.y)};
}

Tolerance Concat::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<Concat>> Concat::variants() {
  static const Variant<Concat> table[] = {
      concat_cuda,
      INGOT_SIMD_ROWS(concat_simd),
      {"reference", {}, concat_reference},
  };
  return table;
}

Result<void> ConcatBackward::check(const Arguments& arguments) {
  TRY(require_rank_between(name, "C1", "dy", arguments.dy, 1, max_rank));
  TRY(require_axis(name, "C1", "axis", arguments.axis, arguments.dy.rank()));
  const std::int64_t size = arguments.dy.size(static_cast<int>(arguments.axis));
  const std::int64_t total =
      TRY(check_parts(name, arguments.parts(), concat_gradient_names, arguments.dy.shape(), arguments.axis));
  if (total != size) {
    return violated(name, "C3", "expected parts that add up to ", size, " along axis ", arguments.axis, ", found ",
                    total);
  }
  return {};
}

Cost ConcatBackward::cost(const Arguments& arguments) {
  return {.bytes_read = bytes_of(arguments.dy), .bytes_written = bytes_of(arguments.dy)};
}

Tolerance ConcatBackward::tolerance(const Arguments&) { return moves_only; }

std::span<const Variant<ConcatBackward>> ConcatBackward::variants() {
  static const Variant<ConcatBackward> table[] = {
      INGOT_SIMD_ROWS(concat_backward_simd),
      {"reference", {}, concat_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Concat>();
template const Operation& describe_operation<ConcatBackward>();

}  // namespace ingot
