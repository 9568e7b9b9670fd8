// Generic parity runs small shapes; outputs too large for the caches take another way to memory (see tensor_map-inl.h).
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/norm/rms_norm.h"
#include "machine/machine.h"

namespace ingot {
namespace {

TEST(Streaming, LargeRmsNormMatchesItsRowsDoneOneByOne) {
  constexpr std::int64_t width = 1027;  // odd: rows start at every distance from alignment
  constexpr std::int64_t rows = (std::int64_t{256} << 20) / 4 / width + 1;
  const auto size = static_cast<std::size_t>(rows * width);
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<float>(i * 2654435761u % 2001) / 512 - 1;
  const std::vector<float> gamma(width, 1.5f);
  const Machine machine = Machine::detect();
  auto workers = Workers::create({.threads = 2});
  ASSERT_TRUE(workers.ok());
  Context context{*workers.value(), {}};
  for (const auto& variant : RmsNorm::variants()) {
    if (variant.run == nullptr || !machine.features.contains_all(variant.needs)) continue;
    std::vector<float> y(size);
    RmsNorm::Arguments whole;
    whole.x = View<const float>(x.data(), {rows, width});
    whole.gamma = View<const float>(gamma.data(), {width});
    whole.y = View<float>(y.data(), {rows, width});
    variant.run(whole, context);
    std::int64_t wrong = 0;
    std::vector<float> row_result(width);
    for (std::int64_t row = 0; row < rows; row += 97) {
      RmsNorm::Arguments one = whole;
      one.x = View<const float>(x.data() + row * width, {width});
      one.y = View<float>(row_result.data(), {width});
      variant.run(one, context);
      for (std::int64_t i = 0; i < width; ++i) wrong += row_result[static_cast<std::size_t>(i)] != whole.y(row, i);
    }
    EXPECT_EQ(wrong, 0) << variant.name;
  }
}

}  // namespace
}  // namespace ingot
