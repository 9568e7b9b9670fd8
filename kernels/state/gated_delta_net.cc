#include "kernels/state/gated_delta_net.h"

#include "kernels/contract/describe.h"
#include "kernels/state/gated_delta_net_cases.h"
#include "kernels/state/linear_attention_checks.h"

namespace ingot {
namespace {

// What this contract asks for beyond linear attention's.
template <class Op>
Result<LinearAttentionSizes> check_gated_delta_inputs(const typename Op::Arguments& a) {
  const LinearAttentionSizes sizes = TRY(check_linear_attention_inputs<Op>(a));
  if (sizes.query_heads != sizes.key_heads) {
    return violated(Op::name, "C1", "expected as many query heads as key heads, found query ", a.query.shape(),
                    ", key ", a.key.shape());
  }
  TRY(require_rank(Op::name, "C3", "decay", a.decay, 3));
  return sizes;
}

void gated_delta_net_reference(const GatedDeltaNet::Arguments& a, Context& context) {
  linear_attention_reference(as_linear_attention(a), context);
}

void gated_delta_net_backward_reference(const GatedDeltaNetBackward::Arguments& a, Context& context) {
  linear_attention_backward_reference(as_linear_attention(a), context);
}

std::size_t recurrent_scratch(const GatedDeltaNet::Arguments& a, int threads) {
  return linear_attention_scratch(as_linear_attention(a), threads);
}

// Below this the products among a chunk's keys cost more than the passes over the state they replace.
bool is_long(const GatedDeltaNet::Arguments& a) { return a.query.size(1) >= 8; }

}  // namespace

Result<void> GatedDeltaNet::check(const Arguments& a) {
  const LinearAttentionSizes sizes = TRY(check_gated_delta_inputs<GatedDeltaNet>(a));
  return check_linear_attention_outputs<GatedDeltaNet>(a, sizes);
}

Cost GatedDeltaNet::cost(const Arguments& a) { return LinearAttention::cost(as_linear_attention(a)); }

Tolerance GatedDeltaNet::tolerance(const Arguments& a) { return LinearAttention::tolerance(as_linear_attention(a)); }

std::span<const Variant<GatedDeltaNet>> GatedDeltaNet::variants() {
  const SimdEntries<GatedDeltaNet>& chunked = gated_delta_net_chunked_simd;
  constexpr auto scratch = gated_delta_net_chunked_scratch;
  static const Variant<GatedDeltaNet> table[] = {
      gated_delta_net_cuda,
      {"avx512_chunked", {Feature::avx512}, chunked.avx512, is_long, scratch},
      {"avx2_chunked", {Feature::avx2}, chunked.avx2, is_long, scratch},
      {"sse4_chunked", {Feature::sse4}, chunked.sse4, is_long, scratch},
      {"neon_chunked", {Feature::neon}, chunked.neon, is_long, scratch},
      INGOT_SIMD_ROWS(gated_delta_net_simd, nullptr, recurrent_scratch),
      {"reference", {}, gated_delta_net_reference},
  };
  return table;
}

Result<void> GatedDeltaNetBackward::check(const Arguments& a) {
  const LinearAttentionSizes sizes = TRY(check_gated_delta_inputs<GatedDeltaNetBackward>(a));
  return check_linear_attention_gradients<GatedDeltaNetBackward>(a, sizes);
}

Cost GatedDeltaNetBackward::cost(const Arguments& a) { return LinearAttentionBackward::cost(as_linear_attention(a)); }

Tolerance GatedDeltaNetBackward::tolerance(const Arguments& a) {
  return LinearAttentionBackward::tolerance(as_linear_attention(a));
}

std::span<const Variant<GatedDeltaNetBackward>> GatedDeltaNetBackward::variants() {
  static const Variant<GatedDeltaNetBackward> table[] = {
      {"reference", {}, gated_delta_net_backward_reference},
  };
  return table;
}

template const Operation& describe_operation<GatedDeltaNet>();
template const Operation& describe_operation<GatedDeltaNetBackward>();

}  // namespace ingot
