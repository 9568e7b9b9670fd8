// The weight is defined to the bit: every vector unit of this machine must give the scalar's bits, and they must be
// e^t. Parity sees only the tokens that follow from it, which a wrong last bit changes once in a million draws.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/sampling/weight.h"
#include "kernels/vector/order_key.h"
#include "kernels/vector/simd_targets.h"
#include "kernels/vector/top_heap.h"
#include "machine/machine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sampling/weight_test.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/sampling/weight-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::HWY_NAMESPACE {
namespace {

// Precondition: a multiple of 8 tokens.
void vector_weights(const std::vector<float>& logits, float largest, std::vector<double>& found) {
  const WeightTag d;
  for (std::size_t i = 0; i < logits.size(); i += hwy::HWY_NAMESPACE::Lanes(d)) {
    hwy::HWY_NAMESPACE::StoreU(weights(d, logits.data() + i, largest), d, found.data() + i);
  }
}

double vector_sum(const std::vector<float>& logits, float largest) {
  return vector_block_sum(logits.data(), static_cast<std::int64_t>(logits.size()), largest);
}

}  // namespace
}  // namespace ingot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot {
namespace {

struct Target {
  Feature needs;
  void (*weights)(const std::vector<float>&, float, std::vector<double>&);
  double (*sum)(const std::vector<float>&, float);
};

const Target targets[] = {
#if defined(__x86_64__)
    {Feature::sse4, &N_SSE4::vector_weights, &N_SSE4::vector_sum},
#if !defined(INGOT_ONE_SIMD_TARGET)
    {Feature::avx2, &N_AVX2::vector_weights, &N_AVX2::vector_sum},
    {Feature::avx512, &N_AVX3::vector_weights, &N_AVX3::vector_sum},
#endif
#else
    {Feature::neon, &N_NEON::vector_weights, &N_NEON::vector_sum},
#endif
};

std::vector<float> differences() {
  std::vector<float> list = {0, -0.0f, -104, std::nextafter(-104.0f, -200.0f), -1e-30f, -1e30f};
  for (int i = 0; i < 100000; ++i) list.push_back(-std::fmod(static_cast<float>(i) * 0.73137f, 108.0f));
  list.push_back(-std::numeric_limits<float>::infinity());
  list.push_back(std::numeric_limits<float>::quiet_NaN());
  while (list.size() % 8 != 0) list.push_back(-1);
  return list;
}

TEST(Weight, IsTheExponentialToEightDigits) {
  for (float t : differences()) {
    if (t >= -104)
      EXPECT_NEAR(sampling::weight(t, 0) / std::exp(double{t}), 1, 2e-8) << t;
    else
      EXPECT_EQ(sampling::weight(t, 0), 0) << t;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(sampling::weight(infinity, infinity), 1);
  EXPECT_EQ(sampling::weight(5, infinity), 0);
}

TEST(Weight, HasTheSameBitsOnEveryVectorUnit) {
  const Machine machine = Machine::detect();
  const std::vector<float> list = differences();
  for (const Target& target : targets) {
    if (!machine.features.contains(target.needs)) continue;
    std::vector<double> found(list.size());
    target.weights(list, 0, found);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const double expected = sampling::weight(list[i], 0);
      ASSERT_EQ(std::memcmp(&expected, &found[i], sizeof(expected)), 0)
          << list[i] << ": " << expected << " " << found[i];
    }
    for (std::size_t tokens : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{1024}}) {
      const std::vector<float> block(list.begin() + 100, list.begin() + 100 + static_cast<std::ptrdiff_t>(tokens));
      EXPECT_EQ(target.sum(block, 0), sampling::block_sum(block.data(), static_cast<std::int64_t>(tokens), 0));
    }
  }
}

}  // namespace
}  // namespace ingot
#endif
