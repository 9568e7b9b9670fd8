#include "kernels/position/learned.h"

#include "kernels/contract/describe.h"
#include "kernels/position/learned_cases.h"

namespace ingot {
namespace {

Result<void> check_rows_of_table(std::string_view name, std::string_view number,
                                 const View<const std::int32_t>& positions, std::int64_t tokens, std::int64_t rows) {
  TRY(require_shape(name, number, "positions", positions, {tokens}));
  if (!positions.place().is_host()) return {};  // what is in them is the caller's to know
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (positions(token) < 0 || positions(token) >= rows) {
      return violated(name, number, "expected positions in [0, ", rows, "), found ", std::int64_t{positions(token)});
    }
  }
  return {};
}

}  // namespace

Result<void> Learned::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "x", a.x, 2));
  TRY(require_shape(name, "C1", "y", a.y, a.x.shape()));
  TRY(require_rank(name, "C1", "table", a.table, 2));
  TRY(require_shape(name, "C1", "table", a.table, {a.table.size(0), a.x.size(1)}));
  TRY(require_contiguous_rows(name, "C2", "x", a.x));
  TRY(require_contiguous_rows(name, "C2", "table", a.table));
  TRY(require_contiguous_rows(name, "C2", "y", a.y));
  return check_rows_of_table(name, "C3", a.positions, a.x.size(0), a.table.size(0));
}

Cost Learned::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance Learned::tolerance(const Arguments&) { return Tolerance::exact("one float addition an element"); }

std::span<const Variant<Learned>> Learned::variants() {
  static const Variant<Learned> table[] = {
      learned_cuda,
      INGOT_SIMD_ROWS(learned_simd),
      {"reference", {}, learned_reference},
  };
  return table;
}

Result<void> LearnedBackward::check(const Arguments& a) {
  TRY(require_rank(name, "C1", "dy", a.dy, 2));
  TRY(require_rank(name, "C1", "dtable", a.dtable, 2));
  TRY(require_shape(name, "C1", "dtable", a.dtable, {a.dtable.size(0), a.dy.size(1)}));
  TRY(require_contiguous_rows(name, "C1", "dy", a.dy));
  TRY(require_contiguous_rows(name, "C1", "dtable", a.dtable));
  if (is_present(a.dx)) {
    TRY(require_shape(name, "C1", "dx", a.dx, a.dy.shape()));
    TRY(require_contiguous_rows(name, "C1", "dx", a.dx));
  }
  return check_rows_of_table(name, "C2", a.positions, a.dy.size(0), a.dtable.size(0));
}

Cost LearnedBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.dy.count());
  const double copied = is_present(a.dx) ? count : 0;
  return {.operations = count,
          .bytes_read = 4 * count,
          .bytes_written = 4 * (copied + static_cast<double>(a.dtable.count()))};
}

Tolerance LearnedBackward::tolerance(const Arguments&) {
  return {.epsilons = 16, .scale = ErrorScale::tensor, .reason = "sums over the tokens of a row that may cancel"};
}

std::span<const Variant<LearnedBackward>> LearnedBackward::variants() {
  static const Variant<LearnedBackward> table[] = {
      {"reference", {}, learned_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<Learned>();
template const Operation& describe_operation<LearnedBackward>();

}  // namespace ingot
