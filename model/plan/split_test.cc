#include "model/plan/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/plan/rewrite.h"
#include "model/plan/test_circuits.h"

namespace ingot {
namespace {

class SplitTest : public ProductCircuitTest {
 protected:
  SplitTest() {
    for (int layer = 0; layer < 3; ++layer) add_weight(layer_prefix(layer) + "w", DType::f32, {8, 8});
    add_weight("head", DType::f32, {8, 8});
  }

  // What comes in is read by the first layer, and once more by the last one.
  Circuit three_layers() {
    CircuitBuilder builder(weights_, {.runs = {2}, .outputs = 1});
    const Operand x = builder.input("x", DType::f32, {2, 8});
    Operand stream = builder.activation("lifted", {2, 8});
    builder.call("activation.silu", "lifted", {{"x", x}, {"y", stream}});
    for (int layer = 0; layer < 3; ++layer) {
      builder.begin_layer(layer);
      const Operand product = builder.activation("product", {2, 8});
      const Operand sum = builder.activation("sum", {2, 8});
      builder.call("linear.matmul", "product",
                   {{"x", stream}, {"weights", builder.weight("w", {8, 8})}, {"y", product}});
      builder.call("elementwise.residual_add", "sum",
                   {{"x", product}, {"residual", layer == 2 ? x : stream}, {"y", sum}});
      stream = sum;
    }
    builder.end_layers();
    const Operand result = builder.output("result", {2, 8});
    builder.call("linear.matmul", "result",
                 {{"x", stream}, {"weights", builder.weight("head", {8, 8})}, {"y", result}});
    return builder.finish().value();
  }

  static std::set<std::string> names(const Circuit& circuit, Storage storage, bool is_on_host) {
    std::set<std::string> found;
    for (const CircuitTensor& tensor : circuit.tensors) {
      if (tensor.storage == storage && tensor.is_on_host == is_on_host) found.insert(tensor.name);
    }
    return found;
  }
  static std::string steps_of(const Circuit& circuit) {
    std::string text;
    for (const Step& step : circuit.steps) text += step.name + "; ";
    return text;
  }
};

TEST_F(SplitTest, OneCopyStandsBetweenLayersOfTheHostAndOfTheDevice) {
  const Circuit joined = join_parts(split_layers(three_layers(), 2));
  EXPECT_EQ(steps_of(joined),
            "lifted; blk.0.product; blk.0.sum; blk.1.product; blk.1.sum; blk.1.sum@device; blk.2.product; "
            "blk.2.sum; result; ");
  EXPECT_EQ(names(joined, Storage::weight, true), (std::set<std::string>{"blk.0.w", "blk.1.w"}));
  EXPECT_EQ(names(joined, Storage::weight, false), (std::set<std::string>{"blk.2.w", "head"}));
  EXPECT_EQ(names(joined, Storage::input, true), std::set<std::string>{"x"}) << "a twin";
  EXPECT_EQ(names(joined, Storage::input, false), std::set<std::string>{"x"});
  EXPECT_EQ(names(joined, Storage::output, false), std::set<std::string>{"result"});
}

TEST_F(SplitTest, EveryStepButTheCopiesLiesAtOnePlace) {
  for (std::int64_t host_layers = 1; host_layers <= 3; ++host_layers) {
    const Circuit joined = join_parts(split_layers(three_layers(), host_layers));
    for (const Step& step : joined.steps) {
      const auto of_host = std::ranges::count_if(step.operands, [&](const BoundOperand& bound) {
        return joined.tensors[static_cast<std::size_t>(bound.operand.tensor)].is_on_host;
      });
      if (step.operation->name == "layout.copy") {
        EXPECT_EQ(of_host, 1) << step.name;
      } else {
        EXPECT_TRUE(of_host == 0 || of_host == std::ssize(step.operands)) << step.name;
      }
    }
    EXPECT_EQ(joined.steps.size(), three_layers().steps.size() + 1);
  }
}

TEST_F(SplitTest, WhatCrossesIsNotFusedAway) {
  // The last sum of the host's would be one step with the norm that follows it.
  add_weight("blk.1.gamma", DType::f32, {1, 8});
  CircuitBuilder builder(weights_, {.runs = {2}, .outputs = 1});
  const Operand x = builder.input("x", DType::f32, {2, 8});
  builder.begin_layer(0);
  const Operand sum = builder.activation("sum", {2, 8});
  builder.call("elementwise.residual_add", "sum", {{"x", x}, {"residual", x}, {"y", sum}});
  builder.begin_layer(1);
  const Operand gamma = builder.reshaped(builder.weight("gamma", {1, 8}), {8});
  const Operand norm = builder.output("norm", {2, 8});
  builder.call("norm.rms_norm", "norm", {{"x", sum}, {"gamma", gamma}, {"y", norm}}, {{"epsilon", 1e-5}});
  const Circuit circuit = builder.finish().value();
  Circuit whole = circuit;
  ASSERT_TRUE(apply_rewrites(whole, {}).ok());
  EXPECT_EQ(whole.steps.size(), 1U);
  CircuitParts parts = split_layers(circuit, 1);
  ASSERT_TRUE(apply_rewrites(parts.host, {}).ok());
  ASSERT_TRUE(apply_rewrites(parts.device, {}).ok());
  EXPECT_EQ(join_parts(std::move(parts)).steps.size(), 3U);
}

}  // namespace
}  // namespace ingot
