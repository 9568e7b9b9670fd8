#include "model/plan/packed_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "model/plan/rewrite.h"
#include "model/plan/test_circuits.h"

namespace ingot {
namespace {

class PackedWeightsTest : public ProductCircuitTest {
 protected:
  // y = x W^T for each of the weights, and a product with some rows of one.
  Circuit products(std::int64_t rows) {
    CircuitBuilder builder(weights_, {.runs = {rows}, .outputs = rows});
    const Operand x = builder.input("x", DType::f32, {rows, 64});
    for (const auto& [name, view] : weights_.all()) {
      const Operand y = builder.output("y." + name, {rows, view.size(0)});
      builder.call("linear.matmul", name, {{"x", x}, {"weights", builder.weight(name, view.shape())}, {"y", y}});
    }
    const Operand part = builder.sliced(builder.weight("parts", {24, 64}), 0, 8, 16);
    const Operand y = builder.output("y.part", {rows, 8});
    builder.call("linear.matmul", "part", {{"x", x}, {"weights", part}, {"y", y}});
    return builder.finish().value();
  }

  void SetUp() override {
    add_weight("four", DType::q4_0, {24, 64});
    add_weight("eight", DType::q8_0, {16, 64});
    add_weight("odd", DType::q8_0, {12, 64});
    add_weight("other", DType::q4_1, {16, 64});
    add_weight("parts", DType::q4_0, {24, 64});
    add_weight("plain", DType::f32, {16, 64});
  }
};

TEST_F(PackedWeightsTest, OnlyWholeMatricesOfWholeEightsOfRowsArePacked) {
  const Weights made = packed(products(1));
  EXPECT_EQ(made.count(), 2u);
  EXPECT_TRUE(made.has("four"));
  EXPECT_TRUE(made.has("eight"));
  EXPECT_EQ(made.bytes(), weights_.find("four")->size(0) * 36 + weights_.find("eight")->size(0) * 68);
}

TEST_F(PackedWeightsTest, PayWhereTheMachineMultipliesThemFaster) {
  using enum Feature;
  const FeatureSet dots = {neon, dotprod}, matrices = {neon, dotprod, i8mm}, wide = {avx2, avx512, avx512_vnni};
  EXPECT_TRUE(packing_pays(DType::q4_0, dots, 1));
  EXPECT_FALSE(packing_pays(DType::q4_0, dots, 1, Neighbours::never_show));
  EXPECT_FALSE(packing_pays(DType::q4_k, dots, 1));
  EXPECT_TRUE(packing_pays(DType::q4_k, matrices, 1));
  EXPECT_FALSE(packing_pays(DType::q8_0, matrices, 1));
  EXPECT_TRUE(packing_pays(DType::q8_0, matrices, 2));
  EXPECT_FALSE(packing_pays(DType::q8_0, dots, 2));
  EXPECT_FALSE(packing_pays(DType::q4_0, wide, 2));
  EXPECT_FALSE(packing_pays(DType::f16, matrices, 2));
}

TEST_F(PackedWeightsTest, ProductsOfAnyNumberOfRowsReadThem) {
  for (const std::int64_t rows : {1, 4, 5, 40}) {
    Circuit circuit = products(rows);
    const Weights made = packed(circuit);
    EXPECT_EQ(use_packed_weights(circuit, made), 2) << rows;
    EXPECT_EQ(use_packed_weights(circuit, made), 0) << "what is packed is not packed again";
  }
}

// A table that is looked into and multiplied by, as tied embeddings are; a norm's weight; and what has no planes.
class PlaneWeightsTest : public ProductCircuitTest {
 protected:
  void SetUp() override {
    add_weight("table", DType::q6_k, {32, 256});
    add_weight("five", DType::q5_k, {48, 512});
    add_weight("short", DType::q8_0, {16, 64});
    add_weight("odd", DType::q4_k, {24, 256});
    add_weight("only_looked_into", DType::q8_0, {16, 256});
  }

  Circuit circuit() {
    CircuitBuilder builder(weights_, {.runs = {1}, .outputs = 1});
    const Operand indices = builder.input("indices", DType::i32, {1});
    for (const std::string_view name : {"table", "only_looked_into"}) {
      const Operand row = builder.output("row." + std::string(name), {1, 256});
      const Operand table = builder.weight(name, weights_.find(name)->shape());
      builder.call("layout.gather_rows", "look into " + std::string(name),
                   {{"table", table}, {"indices", indices}, {"y", row}});
    }
    for (const std::string_view name : {"table", "five", "short", "odd"}) {
      const Shape& shape = weights_.find(name)->shape();
      const Operand x = builder.input("x." + std::string(name), DType::f32, {1, shape[1]});
      const Operand y = builder.output("y." + std::string(name), {1, shape[0]});
      builder.call("linear.matmul", name, {{"x", x}, {"weights", builder.weight(name, shape)}, {"y", y}});
    }
    return builder.finish().value();
  }
};

TEST_F(PlaneWeightsTest, AreThoseThatProductsReadInWholeTiles) {
  const WeightAddresses expected = {weights_.find("table")->data(), weights_.find("five")->data()};
  EXPECT_EQ(find_laid_out_weights(circuit(), WeightLayout::planes16).weights, expected);
  const auto refuse = [](DType) { return false; };
  EXPECT_TRUE(find_laid_out_weights(circuit(), WeightLayout::planes16, refuse).weights.empty());
}

TEST_F(PlaneWeightsTest, AllTheirReadersAreTold) {
  Circuit rewritten = circuit();
  constexpr WeightLayout planes = WeightLayout::planes16;
  EXPECT_EQ(use_laid_out_weights(rewritten, find_laid_out_weights(rewritten, planes)), 3);
  EXPECT_EQ(use_laid_out_weights(rewritten, {planes, {weights_.find("five")->data()}}), 0) << "once is enough";
  for (const Step& step : rewritten.steps) {
    const bool is_told = step.name == "look into table" || step.name == "table" || step.name == "five";
    EXPECT_EQ(step.integer("layout"), is_told ? static_cast<std::int64_t>(WeightLayout::planes16) : 0) << step.name;
  }
}

TEST_F(PackedWeightsTest, WhatWasPackedIsReleased) {
  std::vector<const std::byte*> released;
  Context context{*workers_, {}};
  const Circuit circuit = products(1);
  ASSERT_TRUE(
      pack_weights(circuit, find_packable_weights(circuit), table_, context, [&](std::span<const std::byte> part) {
        released.push_back(part.data());
      }).ok());
  EXPECT_EQ(released, (std::vector{weights_.find("eight")->data(), weights_.find("four")->data()}));
}

TEST_F(PackedWeightsTest, TheProductsAreThoseOfTheUnrewrittenCircuit) {
  for (const std::int64_t rows : {1, 3, 21}) {
    Circuit circuit = products(rows);
    const std::vector<float> expected = run(circuit);
    const Weights made = packed(circuit);
    ASSERT_TRUE(apply_rewrites(circuit, {.packed = &made, .fusion = Fusion::none}).ok());
    ASSERT_EQ(circuit.rewrites.size(), 1u);
    EXPECT_EQ(circuit.rewrites[0].name, "packed weights");
    EXPECT_EQ(circuit.rewrites[0].count, 2);
    const std::vector<float> found = run(circuit);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t index = 0; index < found.size(); ++index) {
      EXPECT_NEAR(found[index], expected[index], 1e-4) << index;
    }
  }
}

TEST_F(PackedWeightsTest, ATableThatIsMultipliedAndLookedUpIsPackedAndOneThatIsOnlyLookedUpIsNot) {
  CircuitBuilder builder(weights_, {.runs = {3}, .outputs = 3});
  const Operand x = builder.input("x", DType::f32, {3, 64});
  const Operand both = builder.weight("four", {24, 64}), table = builder.weight("eight", {16, 64});
  const Operand tokens = builder.input("tokens", DType::i32, {3});  // the arena begins as zeros
  builder.call("linear.matmul", "y", {{"x", x}, {"weights", both}, {"y", builder.output("y", {3, 24})}});
  for (const auto& [name, rows] : {std::pair{"a", both}, std::pair{"b", table}}) {
    builder.call("layout.gather_rows", name,
                 {{"table", rows}, {"indices", tokens}, {"y", builder.output(name, {3, 64})}});
  }
  Circuit circuit = builder.finish().value();
  const std::vector<float> expected = run(circuit);
  const Weights made = packed(circuit);
  EXPECT_TRUE(made.has("four"));
  EXPECT_FALSE(made.has("eight"));
  EXPECT_EQ(use_packed_weights(circuit, made), 2);
  const std::vector<float> found = run(circuit);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t index = 0; index < found.size(); ++index) EXPECT_NEAR(found[index], expected[index], 1e-4) << index;
}

TEST_F(PackedWeightsTest, UnpackingGivesTheBytesOfTheFile) {
  const Weights made = packed(products(1));
  for (const auto& [name, view] : made.all()) {
    const Operation& operation = *find_operation("linear.unpack");
    const std::unique_ptr<Invocation> unpack = operation.empty();
    const ConstAnyView& original = *weights_.find(name);
    std::vector<std::byte> rows(static_cast<std::size_t>(row_bytes(view.dtype(), view.count())));
    const AnyView target(rows.data(), view.dtype(), view.shape());
    const AnyView source(const_cast<std::byte*>(view.data()), view.dtype(), view.shape());
    ASSERT_TRUE(unpack->set_tensor(operation.field_index("packed"), source).ok());
    ASSERT_TRUE(unpack->set_tensor(operation.field_index("rows"), target).ok());
    ASSERT_TRUE(unpack->check().ok());
    Context context{*workers_, {}};
    unpack->run(table_.choose(operation, *unpack), context);
    EXPECT_EQ(std::memcmp(rows.data(), original.data(), rows.size()), 0) << name;
    EXPECT_NE(std::memcmp(view.data(), original.data(), rows.size()), 0) << name;
  }
}

}  // namespace
}  // namespace ingot
