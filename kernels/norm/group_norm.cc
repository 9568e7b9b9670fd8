#include "kernels/norm/group_norm.h"

#include "kernels/contract/describe.h"
#include "kernels/norm/group_norm_cases.h"
#include "kernels/norm/shapes.h"

namespace ingot {

Result<void> require_channels(std::string_view operation, std::string_view number, const View<const float>& x) {
  TRY(require_rank_between(operation, number, "x", x, 2, max_rank));
  TRY(require_contiguous(operation, number, "x", x));
  for (int axis = 1; axis < x.rank(); ++axis) {
    if (x.size(axis) < 1) {
      return violated(operation, number, "expected a channel and a position or more, found x ", x.shape());
    }
  }
  return {};
}

namespace {

Result<void> require_groups(std::string_view operation, std::int64_t groups, std::int64_t channels) {
  if (groups >= 1 && channels % groups == 0) return {};
  return violated(operation, "C2", "expected groups that divide ", channels, " channels, found ", groups);
}

}  // namespace

Result<void> GroupNorm::check(const Arguments& a) {
  TRY(require_channels(name, "C1", a.x));
  TRY(require_groups(name, a.groups, a.x.size(1)));
  if (is_present(a.gamma)) TRY(require_rows(name, "C3", "gamma", a.gamma, {a.x.size(1)}));
  if (is_present(a.beta)) TRY(require_rows(name, "C3", "beta", a.beta, {a.x.size(1)}));
  TRY(require_row_statistic(name, "C4", "y", a.y, a.x.shape()));
  if (is_present(a.mean)) TRY(require_row_statistic(name, "C5", "mean", a.mean, {a.x.size(0), a.groups}));
  if (is_present(a.rstd)) TRY(require_row_statistic(name, "C5", "rstd", a.rstd, {a.x.size(0), a.groups}));
  return require_epsilon(name, "C6", a.epsilon);
}

Cost GroupNorm::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 8 * count, .bytes_read = 4 * count, .bytes_written = 4 * count};
}

Tolerance GroupNorm::tolerance(const Arguments& a) {
  const std::int64_t group_length = a.x.count() / std::max<std::int64_t>(1, a.x.size(0) * a.groups);
  const double gamma = is_present(a.gamma) ? largest_magnitude(a.gamma) : 1;
  return {.epsilons = 16,
          .scale = ErrorScale::tensor,
          .reason =
              "x - mean cancels: its error follows the group's largest number; so does the mean's, which is "
              "itself smaller by the root of the group's length",
          .least_scale = largest_magnitude(a.beta) + gamma * largest_before_centring(a.x, group_length, a.epsilon),
          .of_fields = {FieldScale{"mean", largest_magnitude(a.x)}}};
}

std::span<const Variant<GroupNorm>> GroupNorm::variants() {
  static const Variant<GroupNorm> table[] = {
      group_norm_cuda,
      INGOT_SIMD_ROWS(group_norm_simd),
      {"reference", {}, group_norm_reference},
  };
  return table;
}

Result<void> GroupNormBackward::check(const Arguments& a) {
  TRY(require_channels(name, "C1", a.x));
  TRY(require_groups(name, a.groups, a.x.size(1)));
  if (is_present(a.gamma)) TRY(require_rows(name, "C3", "gamma", a.gamma, {a.x.size(1)}));
  if (is_present(a.dgamma)) TRY(require_rows(name, "C3", "dgamma", a.dgamma, {a.x.size(1)}));
  if (is_present(a.dbeta)) TRY(require_rows(name, "C3", "dbeta", a.dbeta, {a.x.size(1)}));
  TRY(require_row_statistic(name, "C4", "dy", a.dy, a.x.shape()));
  TRY(require_row_statistic(name, "C4", "dx", a.dx, a.x.shape()));
  TRY(require_row_statistic(name, "C5", "mean", a.mean, {a.x.size(0), a.groups}));
  return require_row_statistic(name, "C5", "rstd", a.rstd, {a.x.size(0), a.groups});
}

Cost GroupNormBackward::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.x.count());
  return {.operations = 14 * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

Tolerance GroupNormBackward::tolerance(const Arguments& a) {
  const double gamma = is_present(a.gamma) ? largest_magnitude(a.gamma) : 1;
  const double deviation = largest_magnitude(a.x) + largest_magnitude(a.mean);
  return {.epsilons = 16,
          .scale = ErrorScale::tensor,
          .reason = "differences of terms that may cancel, measured against the largest gradient or term",
          .least_scale = std::max(1.0, largest_magnitude(a.rstd)) * gamma * largest_magnitude(a.dy),
          .of_fields = {{{"dgamma", largest_magnitude(a.dy) * deviation * largest_magnitude(a.rstd)},
                         {"dbeta", largest_magnitude(a.dy)}}}};
}

// The sums of dy and of dy xhat, one of each a channel of an image.
std::size_t group_norm_backward_scratch(const GroupNormBackward::Arguments& a, int) {
  return 2 * sizeof(double) * static_cast<std::size_t>(a.x.size(0) * a.x.size(1));
}

std::span<const Variant<GroupNormBackward>> GroupNormBackward::variants() {
  static const Variant<GroupNormBackward> table[] = {
      INGOT_SIMD_ROWS(group_norm_backward_simd, nullptr, group_norm_backward_scratch),
      {"reference", {}, group_norm_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<GroupNorm>();
template const Operation& describe_operation<GroupNormBackward>();

}  // namespace ingot
