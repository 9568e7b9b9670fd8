#include "engine/device_choice.h"

#include "engine/run_with_scratch.h"
#include "kernels/sampling/choose.h"
#include "kernels/sampling/filter.h"

namespace ingot {
namespace {

template <class Element>
View<Element> rows_of(const View<Element>& all, std::int64_t begin, std::int64_t count) {
  Shape shape = all.shape();
  shape[0] = count;
  return View<Element>(all.data() + begin * all.stride(0), shape, all.strides(), all.place());
}

Result<void> choose(const KernelTable& table, const ChoiceTensors& tensors, const ChoiceRule& rule, Context& context) {
  const View<float>& row = tensors.logits;
  if (rule.temperature == 0) return run<Greedy>(table, {row, tensors.tokens}, context);
  if (rule.top_k > 0 && rule.top_k < row.size(1)) TRY(run<SamplingTopK>(table, {row, rule.top_k, row}, context));
  TRY(run<Temperature>(table, {row, rule.temperature, row}, context));
  if (rule.top_p < 1) TRY(run<TopP>(table, {row, rule.top_p, row}, context));
  if (rule.min_p > 0) TRY(run<MinP>(table, {row, rule.min_p, row}, context));
  return run<Categorical>(table, {row, tensors.uniforms, tensors.tokens}, context);
}

}  // namespace

std::size_t choice_scratch_bytes(const KernelTable& table, const ChoiceTensors& tensors, int threads) {
  const View<float>& row = tensors.logits;
  return std::max({scratch_needed<Greedy>(table, {row, tensors.tokens}, threads),
                   scratch_needed<SamplingTopK>(table, {row, 1, row}, threads),
                   scratch_needed<Temperature>(table, {row, 1, row}, threads),
                   scratch_needed<TopP>(table, {row, 1, row}, threads),
                   scratch_needed<MinP>(table, {row, 1, row}, threads),
                   scratch_needed<Categorical>(table, {row, tensors.uniforms, tensors.tokens}, threads)});
}

Result<void> choose_tokens(const KernelTable& table, const ChoiceTensors& tensors, std::span<const ChoiceGroup> groups,
                           Context& context) {
  std::int64_t begin = 0;
  for (const ChoiceGroup& group : groups) {
    const ChoiceTensors part = {rows_of(tensors.logits, begin, group.rows),
                                rows_of(tensors.uniforms, begin, group.rows),
                                rows_of(tensors.tokens, begin, group.rows)};
    TRY(choose(table, part, group.rule, context));
    begin += group.rows;
  }
  return {};
}

}  // namespace ingot
