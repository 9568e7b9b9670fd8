// Vector maxima and weights; the last step of a draw, inside one block, is scalar.
#include "kernels/sampling/choose.h"
#include "kernels/sampling/weight.h"
#include "kernels/vector/order_key.h"
#include "kernels/vector/simd_targets.h"
#include "kernels/vector/top_heap.h"
#include "tensor/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sampling/choose_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/sampling/weight-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

void greedy(const Greedy::Arguments& arguments, Context& context) {
  const Rows logits(arguments.logits);
  const std::int64_t tokens = logits.length();
  const std::int32_t masked = order_key<NaNOrder::least>(-std::numeric_limits<float>::infinity());
  context.workers.for_chunks(
      logits.count(), rows_per_chunk(4 * tokens), [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t row = begin; row < end; ++row) {
          const std::int64_t greatest = greatest_ranked<NaNOrder::least>(logits[row], tokens, 0);
          arguments.tokens.data()[row] =
              key_of(greatest) > masked ? static_cast<std::int32_t>(index_of(greatest)) : sampling::no_token;
        }
      });
}

void categorical(const Categorical::Arguments& arguments, Context& context) {
  const Rows logits(arguments.logits);
  const std::int64_t tokens = logits.length();
  const SoftmaxRows softmax = softmax_rows(logits, context);
  for (std::int64_t row = 0; row < logits.count(); ++row) {
    std::int32_t& token = arguments.tokens.data()[row];
    token = sampling::no_token;
    if (!softmax.has_candidate(row)) continue;
    const double* sums = softmax.block_sums + row * softmax.blocks;
    double total = 0;
    for (std::int64_t block = 0; block < softmax.blocks; ++block) total += sums[block];
    const double target = arguments.uniform.data()[row] * total;
    std::int64_t block = 0;
    double before = 0;
    while (!(before + sums[block] > target)) before += sums[block++];  // the last one exceeds it: uniform < 1
    const std::int64_t begin = block * sampling::block_tokens;
    token = sampling::draw_within_block(logits[row], begin, HWY_MIN(begin + sampling::block_tokens, tokens),
                                        logits[row][index_of(softmax.greatest[row])], before, target);
  }
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Greedy> greedy_simd = INGOT_SIMD_ENTRIES(greedy);
const SimdEntries<Categorical> categorical_simd = INGOT_SIMD_ENTRIES(categorical);
}  // namespace ingot
#endif
