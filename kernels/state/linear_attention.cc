#include "kernels/state/linear_attention.h"

#include "kernels/contract/describe.h"
#include "kernels/state/linear_attention_cases.h"
#include "kernels/state/linear_attention_checks.h"

namespace ingot {

Result<void> LinearAttention::check(const Arguments& a) {
  const LinearAttentionSizes sizes = TRY(check_linear_attention_inputs<LinearAttention>(a));
  return check_linear_attention_outputs<LinearAttention>(a, sizes);
}

Cost LinearAttention::cost(const Arguments& a) {
  const auto sizes = LinearAttentionSizes::of(a);
  const auto tokens = static_cast<double>(sizes.batch) * static_cast<double>(sizes.time);
  const auto matrix = static_cast<double>(sizes.key_width) * static_cast<double>(sizes.value_width);
  const auto heads = static_cast<double>(sizes.heads);
  const double updates = (is_present(a.beta) ? 4 : 2) + (is_present(a.decay) ? 1 : 0);
  const auto states = static_cast<double>(a.final_state.count());
  return {.operations = tokens * matrix * (heads * updates + 2 * static_cast<double>(sizes.outputs())),
          .bytes_read = 4 * (static_cast<double>(a.query.count()) + static_cast<double>(a.key.count()) +
                             static_cast<double>(a.value.count()) + states),
          .bytes_written = 4 * (static_cast<double>(a.y.count()) + states)};
}

Tolerance LinearAttention::tolerance(const Arguments&) {
  return {
      .epsilons = 32,
      .scale = ErrorScale::tensor,
      .reason = "sums over K and over time that may cancel; each step rounds the state, decays shrink old roundings"};
}

std::size_t linear_attention_scratch(const LinearAttention::Arguments& a, int threads) {
  if (a.value.empty()) return 0;
  return static_cast<std::size_t>(threads) * static_cast<std::size_t>(a.query.size(3)) * sizeof(float);
}

std::span<const Variant<LinearAttention>> LinearAttention::variants() {
  static const Variant<LinearAttention> table[] = {
      linear_attention_cuda,
      INGOT_SIMD_ROWS(linear_attention_simd, nullptr, linear_attention_scratch),
      {"reference", {}, linear_attention_reference},
  };
  return table;
}

Result<void> LinearAttentionBackward::check(const Arguments& a) {
  const LinearAttentionSizes sizes = TRY(check_linear_attention_inputs<LinearAttentionBackward>(a));
  return check_linear_attention_gradients<LinearAttentionBackward>(a, sizes);
}

Cost LinearAttentionBackward::cost(const Arguments& a) {
  const auto sizes = LinearAttentionSizes::of(a);
  const auto tokens = static_cast<double>(sizes.batch) * static_cast<double>(sizes.time);
  const auto matrix = static_cast<double>(sizes.key_width) * static_cast<double>(sizes.value_width);
  const double inputs =
      static_cast<double>(a.query.count()) + static_cast<double>(a.key.count()) + static_cast<double>(a.value.count());
  return {.operations = tokens * matrix * 14 * static_cast<double>(sizes.outputs()),
          .bytes_read = 4 * (inputs + static_cast<double>(a.dy.count())),
          .bytes_written = 4 * inputs};
}

Tolerance LinearAttentionBackward::tolerance(const Arguments&) {
  return {.epsilons = 256,
          .scale = ErrorScale::tensor,
          .reason = "two recurrences over time, and sums over K, V and sharing heads that may cancel"};
}

std::span<const Variant<LinearAttentionBackward>> LinearAttentionBackward::variants() {
  static const Variant<LinearAttentionBackward> table[] = {
      {"reference", {}, linear_attention_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<LinearAttention>();
template const Operation& describe_operation<LinearAttentionBackward>();

}  // namespace ingot
