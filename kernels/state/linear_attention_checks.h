// The constraints that linear attention, the gated delta net and their backwards share: same field names, same numbers.
#pragma once

#include <cmath>

#include "kernels/state/linear_attention.h"

namespace ingot {

// C1 to C4, C6 (initial_state), C7 and C8 of linear_attention.h.
template <class Op>
Result<LinearAttentionSizes> check_linear_attention_inputs(const typename Op::Arguments& a) {
  TRY(require_rank(Op::name, "C1", "query", a.query, 4));
  TRY(require_rank(Op::name, "C1", "key", a.key, 4));
  TRY(require_rank(Op::name, "C1", "value", a.value, 4));
  const auto sizes = LinearAttentionSizes::of(a);
  TRY(require_shape(Op::name, "C1", "key", a.key, {sizes.batch, sizes.time, sizes.key_heads, sizes.key_width}));
  TRY(require_shape(Op::name, "C1", "value", a.value, {sizes.batch, sizes.time, sizes.heads, sizes.value_width}));
  if (std::min({sizes.query_heads, sizes.key_heads, sizes.heads, sizes.key_width, sizes.value_width}) < 1) {
    return violated(Op::name, "C1", "expected heads and widths of 1 or more, found query ", a.query.shape(), ", key ",
                    a.key.shape(), ", value ", a.value.shape());
  }
  const std::int64_t fewer = std::min(sizes.query_heads, sizes.heads);
  if (sizes.heads % sizes.key_heads != 0 || sizes.outputs() % fewer != 0) {
    return violated(Op::name, "C2",
                    "expected key heads that divide the value heads, and query heads that divide or "
                    "are a multiple of them, found ",
                    sizes.key_heads, ", ", sizes.heads, " and ", sizes.query_heads);
  }
  const Shape per_head = {sizes.batch, sizes.time, sizes.heads};
  if (is_present(a.decay)) {
    TRY(require_rank_between(Op::name, "C3", "decay", a.decay, 3, 4));
    Shape expected = per_head;
    if (a.decay.rank() == 4) expected.push_back(sizes.key_width);
    TRY(require_shape(Op::name, "C3", "decay", a.decay, expected));
    if (a.decay.rank() == 4) TRY(require_contiguous_rows(Op::name, "C7", "decay", a.decay));
  }
  if (is_present(a.beta)) TRY(require_shape(Op::name, "C4", "beta", a.beta, per_head));
  if (is_present(a.initial_state)) {
    TRY(require_shape(Op::name, "C6", "initial_state", a.initial_state, sizes.state_shape()));
    TRY(require_contiguous_rows(Op::name, "C7", "initial_state", a.initial_state));
  }
  TRY(require_contiguous_rows(Op::name, "C7", "query", a.query));
  TRY(require_contiguous_rows(Op::name, "C7", "key", a.key));
  TRY(require_contiguous_rows(Op::name, "C7", "value", a.value));
  if (!std::isfinite(a.scale)) return violated(Op::name, "C8", "expected a finite scale, found one that is not");
  return sizes;
}

// C5 to C7 for the results of a forward.
template <class Op>
Result<void> check_linear_attention_outputs(const typename Op::Arguments& a, const LinearAttentionSizes& sizes) {
  TRY(require_shape(Op::name, "C5", "y", a.y, {sizes.batch, sizes.time, sizes.outputs(), sizes.value_width}));
  TRY(require_shape(Op::name, "C6", "final_state", a.final_state, sizes.state_shape()));
  TRY(require_contiguous_rows(Op::name, "C7", "y", a.y));
  TRY(require_contiguous_rows(Op::name, "C7", "final_state", a.final_state));
  return {};
}

// C5 to C7 for what a backward takes and gives.
template <class Op>
Result<void> check_linear_attention_gradients(const typename Op::Arguments& a, const LinearAttentionSizes& sizes) {
  TRY(require_shape(Op::name, "C5", "dy", a.dy, {sizes.batch, sizes.time, sizes.outputs(), sizes.value_width}));
  TRY(require_shape(Op::name, "C5", "dquery", a.dquery, a.query.shape()));
  TRY(require_shape(Op::name, "C5", "dkey", a.dkey, a.key.shape()));
  TRY(require_shape(Op::name, "C5", "dvalue", a.dvalue, a.value.shape()));
  if (is_present(a.ddecay)) {
    if (!is_present(a.decay)) return violated(Op::name, "C5", "expected ddecay only beside decay, found it alone");
    TRY(require_shape(Op::name, "C5", "ddecay", a.ddecay, a.decay.shape()));
  }
  if (is_present(a.dbeta)) {
    if (!is_present(a.beta)) return violated(Op::name, "C5", "expected dbeta only beside beta, found it alone");
    TRY(require_shape(Op::name, "C5", "dbeta", a.dbeta, a.beta.shape()));
  }
  if (is_present(a.dfinal_state)) {
    TRY(require_shape(Op::name, "C5", "dfinal_state", a.dfinal_state, sizes.state_shape()));
  }
  if (is_present(a.dinitial_state)) {
    TRY(require_shape(Op::name, "C5", "dinitial_state", a.dinitial_state, sizes.state_shape()));
  }
  return {};
}

}  // namespace ingot
