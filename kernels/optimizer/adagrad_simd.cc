#include "kernels/optimizer/adagrad.h"
#include "kernels/optimizer/segments.h"
#include "kernels/vector/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer/adagrad_simd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/optimizer/direction-inl.h"
#include "kernels/optimizer/update_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct AdagradRule {
  float learning_rate, epsilon, weight_decay;

  template <class D, class Read, class State>
  HWY_INLINE void operator()(D d, const Read& read, State& state) const {
    auto& [parameter, sum] = state;
    const auto g = hn::MulAdd(hn::Set(d, weight_decay), parameter, read[0]);
    sum = hn::MulAdd(g, g, sum);
    parameter = hn::NegMulAdd(hn::Set(d, learning_rate), direction_of(d, g, sum, 1.0f, epsilon), parameter);
  }
};

void adagrad(const Adagrad::Arguments& a, Context& context) {
  const AdagradRule rule = {.learning_rate = static_cast<float>(a.learning_rate),
                            .epsilon = static_cast<float>(a.epsilon),
                            .weight_decay = static_cast<float>(a.weight_decay)};
  update_rows<1, 2>(context, {a.gradient}, {a.parameters, a.sum_of_squares}, rule);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
const SimdEntries<Adagrad> adagrad_simd = INGOT_SIMD_ENTRIES(adagrad);
}  // namespace ingot
#endif
