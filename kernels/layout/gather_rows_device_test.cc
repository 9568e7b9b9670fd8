// Tables on a device, which is emulated here.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/device/emulated_rows.h"
#include "kernels/layout/gather_rows.h"
#include "tensor/block_codec.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

// A pass that goes ahead of what is known may be told a token that could not be chosen, -1.
TEST(GatherRowsDevice, AnIndexThatIsNoneReadsNothingBeyondTheTable) {
  constexpr DType type = DType::q4_k;
  constexpr std::int64_t rows = plane_rows, length = 256;
  std::vector<std::byte> table;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::vector<float> numbers(static_cast<std::size_t>(length), static_cast<float>(row + 1));
    table.resize(table.size() + static_cast<std::size_t>(row_bytes(type, length)));
    encode_row(type, numbers.data(), table.data() + row * row_bytes(type, length), length);
  }
  const std::vector<std::byte> as_rows = table;
  lay_planes(ConstAnyView(as_rows.data(), type, {rows, length}), 0, rows, AnyView(table.data(), type, {rows, length}));
  EmulatedRows device;
  const std::int32_t indices[] = {3, -1};
  const std::vector<float> poison(static_cast<std::size_t>(2 * length), -5);
  GatherRows::Arguments a;
  a.table = device.any_view(table, type, {rows, length});
  a.layout = WeightLayout::planes16;
  a.indices = device.view(indices, {2});
  a.y = device.view(poison.data(), {2, length});
  const auto variants = GatherRows::variants();
  const auto row = std::ranges::find(variants, "cuda", &Variant<GatherRows>::name);
  ASSERT_NE(row, variants.end());
  const std::vector<float> found = device.run(*row, a);
  EXPECT_NEAR(found[0], 4, 0.1);
  EXPECT_NEAR(found[static_cast<std::size_t>(length)], 1, 0.1);
}

}  // namespace
}  // namespace ingot
