// Products where neighbours must never show: whatever is chosen for a number of rows of x, each row has the bits that
// it has by itself. On this machine, and on machines that have less than it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/contract/describe.h"
#include "kernels/contract/table.h"
#include "kernels/linear/family.h"
#include "kernels/linear/fused/gated_matmul.h"
#include "kernels/linear/fused/joint_matmul.h"
#include "kernels/linear/grouped/matmul_grouped.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/pack/pack.h"
#include "machine/machine.h"
#include "tensor/block_codec.h"
#include "tensor/interleaved.h"

namespace ingot {
namespace {

constexpr std::int64_t most_rows = 37;
constexpr std::int64_t columns = 40;     // five braids, two panels and a half
constexpr std::int64_t depth = 5 * 256;  // more than panels have at once
constexpr DType types[] = {DType::q4_0,  DType::q4_1,   DType::q5_0, DType::q5_1, DType::q8_0,
                           DType::mxfp4, DType::q2_k,   DType::q3_k, DType::q4_k, DType::q5_k,
                           DType::q6_k,  DType::iq4_xs, DType::bf16, DType::f16,  DType::f32};

// This machine and what is left of it without some of its instructions.
std::vector<FeatureSet> machines() {
  using enum Feature;
  std::vector<FeatureSet> list = {Machine::detect().features};
  for (const FeatureSet missing :
       {FeatureSet{amx_int8, amx_bf16}, FeatureSet{avx512_bf16, avx512_fp16}, FeatureSet{avx512, avx512_vnni},
        FeatureSet{avx_vnni}, FeatureSet{avx2}, FeatureSet{i8mm, bf16}, FeatureSet{dotprod}, FeatureSet{fp16}}) {
    const FeatureSet rest = list.back().without(missing);
    if (rest != list.back()) list.push_back(rest);
  }
  return list;
}

class NeighboursTest : public testing::Test {
 protected:
  NeighboursTest() : scratch_(64 << 20) {
    RandomNumbers random(7);
    x_.resize(static_cast<std::size_t>(most_rows * depth));
    for (float& value : x_) value = static_cast<float>(random.normal() * std::exp(random.normal()));
  }

  std::vector<std::byte> weights(DType type, WeightLayout layout = WeightLayout::rows, std::int64_t rows = columns) {
    RandomNumbers random(static_cast<std::uint64_t>(type) + 1);
    std::vector<std::byte> stored(static_cast<std::size_t>(rows * row_bytes(type, depth)));
    std::vector<float> row(static_cast<std::size_t>(depth));
    for (std::int64_t n = 0; n < rows; ++n) {
      for (float& value : row) value = static_cast<float>(random.normal());
      encode_row(type, row.data(), stored.data() + n * row_bytes(type, depth), depth);
    }
    if (layout == WeightLayout::rows) return stored;
    std::vector<std::byte> packed(stored.size());
    Context context{*workers_, {}};
    pack_reference({.rows = ConstAnyView(stored.data(), type, {rows, depth}),
                    .packed = AnyView(packed.data(), type, {rows, depth})},
                   context);
    return packed;
  }

  View<const float> rows_of_x(std::int64_t first, std::int64_t count) const {
    return View<const float>(x_.data() + first * depth, {count, depth});
  }

  // Runs what the table chooses; answers with its name.
  template <class Op>
  std::string run(const KernelTable& table, const typename Op::Arguments& arguments) {
    const Operation& operation = describe_operation<Op>();
    const describe_detail::TypedInvocation<Op> invocation(arguments);
    const Result<void> sound = invocation.check();
    EXPECT_TRUE(sound.ok()) << sound.error().text();
    const int variant = table.choose(operation, invocation);
    if (variant < 0) return "none";
    const auto address = reinterpret_cast<std::uintptr_t>(scratch_.data());
    Context context{*workers_, {scratch_.data() + (align_up(address, 64) - address), scratch_.size() - 64}};
    EXPECT_LE(invocation.scratch_bytes(variant, workers_->count()), scratch_.size() - 64);
    invocation.run(variant, context);
    return std::string(operation.variants[static_cast<std::size_t>(variant)].name);
  }

  // product(first row, rows, y) says how it was computed.
  template <class Product>
  void expect_rows_as_alone(std::int64_t width, std::string_view what, Product product) {
    std::vector<float> alone(static_cast<std::size_t>(most_rows * width)), together(alone.size());
    const std::string way_of_one = product(0, 1, View<float>(alone.data(), {1, width}));
    for (std::int64_t row = 1; row < most_rows; ++row) {
      product(row, 1, View<float>(alone.data() + row * width, {1, width}));
    }
    for (const std::int64_t count : {2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18, 31, 37}) {
      for (const std::int64_t first : {std::int64_t{0}, most_rows - count}) {
        std::ranges::fill(together, -1.0f);
        const std::string way = product(first, count, View<float>(together.data(), {count, width}));
        EXPECT_NE(way, "reference") << what;
        for (std::int64_t row = 0; row < count; ++row) {
          ASSERT_EQ(std::memcmp(together.data() + row * width, alone.data() + (first + row) * width,
                                static_cast<std::size_t>(width) * sizeof(float)),
                    0)
              << what << ": row " << row << " of " << count << " by " << way << ", alone by " << way_of_one;
        }
      }
    }
  }

  static KernelTable table_of(FeatureSet features) {
    return KernelTable::select(linear_operations(), features, {}, Neighbours::never_show).value();
  }

  std::unique_ptr<Workers> workers_ = Workers::create({.threads = 2}).value();
  std::vector<float> x_;
  std::vector<std::byte> scratch_;
};

TEST_F(NeighboursTest, ARowOfAProductIsWhatItIsAlone) {
  const std::vector<float> bias(static_cast<std::size_t>(columns), 0.37f);
  for (const FeatureSet features : machines()) {
    const KernelTable table = table_of(features);
    for (const DType type : types) {
      for (const WeightLayout layout : {WeightLayout::rows, WeightLayout::interleaved8}) {
        if (layout == WeightLayout::interleaved8 && !can_interleave(type)) continue;
        const std::vector<std::byte> stored = weights(type, layout);
        const std::string what(name_of(type));
        expect_rows_as_alone(columns, what, [&](std::int64_t first, std::int64_t count, const View<float>& y) {
          Matmul::Arguments a;
          a.x = rows_of_x(first, count);
          a.layout = layout;
          a.weights = ConstAnyView(stored.data(), type, {columns, depth});
          a.bias = View<const float>(bias.data(), {columns});
          a.y = y;
          return run<Matmul>(table, a);
        });
      }
    }
  }
}

// Weights of types whose products go by different ways.
TEST_F(NeighboursTest, ARowOfAFusedProductIsWhatItIsAlone) {
  for (const FeatureSet features : machines()) {
    const KernelTable table = table_of(features);
    for (const auto& [one, other] :
         {std::pair{DType::q4_0, DType::q4_0}, std::pair{DType::q4_0, DType::q8_0}, std::pair{DType::q4_0, DType::q4_1},
          std::pair{DType::q4_k, DType::q6_k}, std::pair{DType::q4_k, DType::q5_k}}) {
      for (const WeightLayout layout : {WeightLayout::rows, WeightLayout::interleaved8}) {
        if (layout == WeightLayout::interleaved8 && !(can_interleave(one) && can_interleave(other))) continue;
        const std::vector<std::byte> gate = weights(one, layout), up = weights(other, layout);
        const std::string what = std::string(name_of(one)) + " and " + std::string(name_of(other));
        expect_rows_as_alone(columns, what, [&](std::int64_t first, std::int64_t count, const View<float>& y) {
          GatedMatmul::Arguments a;
          a.x = rows_of_x(first, count);
          a.layout = layout;
          a.gate_weights = ConstAnyView(gate.data(), one, {columns, depth});
          a.up_weights = ConstAnyView(up.data(), other, {columns, depth});
          a.y = y;
          return run<GatedMatmul>(table, a);
        });
      }
    }
  }
}

// Rows of an expert are those that tokens of a whole pass sent to it.
TEST_F(NeighboursTest, ARowOfAnExpertIsWhatItIsAlone) {
  for (const FeatureSet features : machines()) {
    const KernelTable table = table_of(features);
    for (const DType type : types) {
      const std::vector<std::byte> stored = weights(type, WeightLayout::rows, 2 * columns);
      expect_rows_as_alone(columns, name_of(type), [&](std::int64_t first, std::int64_t count, const View<float>& y) {
        const std::int32_t offsets[] = {0, 0, static_cast<std::int32_t>(count)};
        MatmulGrouped::Arguments a;
        a.x = rows_of_x(first, count);
        a.weights = ConstAnyView(stored.data(), type, {2, columns, depth});
        a.offsets = View<const std::int32_t>(offsets, {3});
        a.y = y;
        return run<MatmulGrouped>(table, a);
      });
    }
  }
}

}  // namespace
}  // namespace ingot
