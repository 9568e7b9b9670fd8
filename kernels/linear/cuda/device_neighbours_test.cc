// Products on a device, where bits must not depend on how many tokens are multiplied: whichever function is taken, a
// row of y has the bits that it has by itself. On the emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "kernels/device/emulated_rows.h"
#include "kernels/linear/matmul/matmul.h"
#include "tensor/block_codec.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

constexpr std::int64_t most_tokens = 70;  // more than one tile of many
constexpr std::int64_t few_columns = 19;  // a warp's and a few; whole sixteens in planes
// Whose blocks leave it to another launch to prepare one token.
constexpr std::int64_t many_columns(DType type) { return 16 * (is_block_format(type) ? 321 : 1025); }

const Variant<Matmul>& device_row(std::string_view name) {
  const auto rows = Matmul::variants();
  return *std::find_if(rows.begin(), rows.end(), [&](const Variant<Matmul>& row) { return row.name == name; });
}

struct WeightKind {
  DType type;
  WeightLayout layout = WeightLayout::rows;
  std::int64_t depth = 1024 + 256;  // two segments and a half; long ones leave a block's shared memory to fewer warps
  bool has_many_columns = false;
  std::int64_t tokens = most_tokens;
  std::int64_t columns = few_columns;

  std::string name() const {
    return std::string(name_of(type)) + (layout == WeightLayout::planes16 ? "_in_planes" : "") +
           (depth > 10000 ? "_long" : "") + (has_many_columns ? "_of_many_columns" : "");
  }
};

class DeviceNeighboursTest : public testing::TestWithParam<WeightKind> {
 protected:
  DeviceNeighboursTest()
      : tokens_(GetParam().has_many_columns ? 2 : GetParam().tokens),
        columns_(GetParam().has_many_columns                   ? many_columns(GetParam().type)
                 : GetParam().layout == WeightLayout::planes16 ? 2 * plane_rows
                                                               : GetParam().columns),
        depth_(GetParam().depth) {
    const DType type = GetParam().type;
    RandomNumbers random(5);
    x_.resize(static_cast<std::size_t>(tokens_ * depth_));
    for (float& value : x_) value = static_cast<float>(random.normal());
    weights_.resize(static_cast<std::size_t>(columns_ * row_bytes(type, depth_)));
    std::vector<float> row(static_cast<std::size_t>(depth_));
    for (std::int64_t n = 0; n < columns_; ++n) {
      for (float& value : row) value = static_cast<float>(random.normal());
      encode_row(type, row.data(), weights_.data() + n * row_bytes(type, depth_), depth_);
    }
    if (GetParam().layout == WeightLayout::rows) return;
    const std::vector<std::byte> rows = weights_;
    lay_planes(ConstAnyView(rows.data(), type, {columns_, depth_}), 0, columns_,
               AnyView(weights_.data(), type, {columns_, depth_}));
  }

  // y of tokens `first` and on.
  std::vector<float> product(std::int64_t first, std::int64_t tokens, std::string_view row = "cuda") {
    Matmul::Arguments a;
    a.x = rows_.view(x_.data() + first * depth_, {tokens, depth_});
    a.layout = layout_;
    a.weights = rows_.any_view(weights_, GetParam().type, {columns_, depth_});
    a.y = rows_.view(std::vector<float>(static_cast<std::size_t>(tokens * columns_)).data(), {tokens, columns_});
    EXPECT_TRUE(device_row(row).accepts(a)) << row;
    return rows_.run(device_row(row), a);
  }

  const std::int64_t tokens_;
  const std::int64_t columns_;
  const std::int64_t depth_;
  WeightLayout layout_ = GetParam().layout;
  std::vector<float> x_;
  std::vector<std::byte> weights_;
  EmulatedRows rows_;
};

TEST_P(DeviceNeighboursTest, ATokenHasTheBitsThatItHasAlone) {
  std::vector<float> alone;
  for (std::int64_t token = 0; token < tokens_; ++token) {
    const std::vector<float> one = product(token, 1);
    alone.insert(alone.end(), one.begin(), one.end());
  }
  for (const std::int64_t tokens : {2, 9, 16, 17, 70}) {
    if (tokens > tokens_) break;
    const std::vector<float> together = product(0, tokens);
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), together.size() * sizeof(float)), 0) << tokens << " tokens";
  }
}

// Where weights lie shows no more than how many tokens there are.
TEST_P(DeviceNeighboursTest, PlanesHaveTheBitsOfRows) {
  if (GetParam().layout == WeightLayout::rows || tokens_ < 9) return;
  const std::vector<float> of_planes = product(0, 9);
  const std::vector<std::byte> planes = weights_;
  const ConstAnyView packed(planes.data(), GetParam().type, {columns_, depth_});
  for (std::int64_t n = 0; n < columns_; ++n) {
    gather_row(WeightLayout::planes16, packed, n, weights_.data() + n * row_bytes(GetParam().type, depth_));
  }
  layout_ = WeightLayout::rows;
  const std::vector<float> of_rows = product(0, 9);
  expect_same_bits(of_planes, of_rows);
}

INSTANTIATE_TEST_SUITE_P(
    Types, DeviceNeighboursTest,
    testing::Values(WeightKind{DType::f32}, WeightKind{DType::f16}, WeightKind{DType::bf16}, WeightKind{DType::q8_0},
                    WeightKind{DType::q4_1}, WeightKind{DType::q4_k}, WeightKind{DType::q6_k},
                    WeightKind{DType::q4_0, WeightLayout::planes16}, WeightKind{DType::q5_0, WeightLayout::planes16},
                    WeightKind{DType::q8_0, WeightLayout::planes16}, WeightKind{DType::q4_k, WeightLayout::planes16},
                    WeightKind{DType::q5_k, WeightLayout::planes16}, WeightKind{DType::q6_k, WeightLayout::planes16},
                    WeightKind{DType::f16, WeightLayout::rows, 12288},
                    WeightKind{DType::q8_0, WeightLayout::planes16, 20480},
                    WeightKind{DType::f16, WeightLayout::rows, 320, true},
                    WeightKind{DType::bf16, WeightLayout::rows, 320, true},
                    WeightKind{DType::q4_k, WeightLayout::planes16, 512, true}),
    [](const auto& kind) { return kind.param.name(); });

// Wide blocks show as little as the others.
class WideNeighboursTest : public DeviceNeighboursTest {};

TEST_P(WideNeighboursTest, ATokenHasTheBitsThatItHasInNarrowBlocks) {
  for (const std::int64_t tokens : {std::int64_t{65}, std::int64_t{129}, tokens_}) {
    const std::int64_t first = tokens_ - tokens;  // other places in other blocks
    expect_same_bits(product(first, tokens, "cuda_wide"), product(first, tokens, "cuda"));
  }
}

TEST(WideProductsTest, WhatLiesBetweenRowsOfWeightsIsNotMultiplied) {
  constexpr std::int64_t tokens = 65;
  constexpr std::int64_t rows = 3;
  constexpr std::int64_t depth = 13;  // and three elements up to the next row
  const std::vector<float> x(tokens * depth, 1.0F);
  std::vector<std::byte> weights(rows * 32, std::byte{0xff});  // not a number
  const std::vector<float> ones(depth, 1.0F);
  for (std::size_t row = 0; row < rows; ++row) encode_row(DType::bf16, ones.data(), weights.data() + row * 32, depth);
  EmulatedRows on_device;
  Matmul::Arguments a;
  a.x = on_device.view(x.data(), {tokens, depth});
  a.weights = ConstAnyView(on_device.copied(weights.data(), weights.size()), DType::bf16, {rows, depth}, Strides{32, 2},
                           Place::device(0));
  a.y = on_device.view(std::vector<float>(tokens * rows).data(), {tokens, rows});
  ASSERT_TRUE(device_row("cuda_wide").accepts(a));
  expect_same_bits(on_device.run(device_row("cuda_wide"), a), std::vector<float>(tokens * rows, float{depth}));
}

// Parts of the last blocks; and more tiles of tokens than meet the same rows of weights in turn.
INSTANTIATE_TEST_SUITE_P(Types, WideNeighboursTest,
                         testing::Values(WeightKind{DType::f16, WeightLayout::rows, 328, false, 150, 20},
                                         WeightKind{DType::bf16, WeightLayout::rows, 328, false, 150, 19},
                                         WeightKind{DType::bf16, WeightLayout::rows, 8, false, 2100, 139}),
                         [](const auto& kind) {
                           return kind.param.name() + "_of_" + std::to_string(kind.param.tokens) + "_tokens";
                         });

}  // namespace
}  // namespace ingot
