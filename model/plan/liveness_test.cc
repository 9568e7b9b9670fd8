#include "model/plan/liveness.h"

#include <gtest/gtest.h>

#include "model/circuit/builder.h"

namespace ingot {
namespace {

// Circuits over one size of tensor, [4, 16] floats: buffers are counted, not bytes.
class LivenessTest : public testing::Test {
 protected:
  Operand tensor(std::string_view name) { return builder_.activation(name, {4, 16}); }
  void curve(std::string_view makes, const Operand& x, const Operand& y) {
    builder_.call("activation.silu", makes, {{"x", x}, {"y", y}});
  }
  void product(std::string_view makes, const Operand& a, const Operand& b, const Operand& y) {
    builder_.call("elementwise.mul", makes, {{"a", a}, {"b", b}, {"y", y}});
  }
  void attention(std::string_view makes, const Operand& x, const Operand& y) {
    const auto heads = [&](const Operand& all) { return builder_.reshaped(all, {1, 1, 4, 16}); };
    builder_.call("attention.sdpa", makes, {{"q", heads(x)}, {"k", heads(x)}, {"v", heads(x)}, {"y", heads(y)}});
  }

  void finish() {
    Result<Circuit> circuit = builder_.finish();
    ASSERT_TRUE(circuit.ok()) << circuit.error().text();
    circuit_ = std::move(circuit).value();
    liveness_ = liveness_of(circuit_);
  }
  int buffer_of(const Operand& operand) const { return liveness_.buffer_of[static_cast<std::size_t>(operand.tensor)]; }

  Weights weights_;
  CircuitBuilder builder_{weights_, {.runs = {4}, .outputs = 4}};
  Circuit circuit_;
  Liveness liveness_;
};

TEST_F(LivenessTest, AStepTakesOverWhatItReadsForTheLastTime) {
  const Operand x = builder_.input("x", DType::f32, {4, 16});
  const Operand a = tensor("a"), b = tensor("b"), c = tensor("c"), y = builder_.output("y", {4, 16});
  curve("a", x, a);
  curve("b", a, b);
  product("c", b, b, c);
  curve("y", c, y);
  finish();
  EXPECT_NE(buffer_of(a), buffer_of(x));  // the caller's
  EXPECT_EQ(buffer_of(b), buffer_of(a));
  EXPECT_EQ(buffer_of(c), buffer_of(a));
  EXPECT_EQ(buffer_of(y), buffer_of(a));
  ASSERT_EQ(liveness_.buffers.size(), 2u);
  const BufferLife& life = liveness_.buffers[static_cast<std::size_t>(buffer_of(a))];
  EXPECT_EQ(life.first, 0);
  EXPECT_EQ(life.last, 4);  // an output is read after the last step
  EXPECT_EQ(liveness_.unshared_bytes, 5 * 4 * 16 * 4);
}

TEST_F(LivenessTest, WhatIsReadAgainIsNotWrittenOver) {
  const Operand x = builder_.input("x", DType::f32, {4, 16});
  const Operand a = tensor("a"), b = tensor("b"), c = tensor("c");
  curve("a", x, a);
  curve("b", a, b);
  product("c", a, b, c);
  curve("y", c, builder_.output("y", {4, 16}));
  finish();
  EXPECT_NE(buffer_of(b), buffer_of(a));
  EXPECT_EQ(buffer_of(c), buffer_of(a));  // the first of those that it may take
}

TEST_F(LivenessTest, OperationsThatLookAroundAreNotRunInPlace) {
  const Operand x = builder_.input("x", DType::f32, {4, 16});
  const Operand a = tensor("a"), b = tensor("b");
  curve("a", x, a);
  attention("b", a, b);
  curve("y", b, builder_.output("y", {4, 16}));
  finish();
  EXPECT_NE(buffer_of(b), buffer_of(a));
}

TEST_F(LivenessTest, TheSameElementsAreMeantNotTheSameTensor) {
  const Operand x = builder_.input("x", DType::f32, {4, 16});
  const Operand a = tensor("a"), y = builder_.output("y", {4, 16});
  curve("a", x, a);
  const auto half = [&](const Operand& all, int which) { return builder_.sliced(all, 1, 8 * which, 8 * which + 8); };
  curve("left", half(a, 0), half(y, 1));
  curve("right", half(x, 1), half(y, 0));
  finish();
  EXPECT_NE(buffer_of(y), buffer_of(a));
}

TEST_F(LivenessTest, AHalfThatIsReadBesideIsNotWrittenOver) {
  const Operand x = builder_.input("x", DType::f32, {4, 16});
  const Operand a = tensor("a"), y = builder_.output("y", {4, 16});
  curve("a", x, a);
  const auto half = [&](const Operand& all, int which) { return builder_.sliced(all, 1, 8 * which, 8 * which + 8); };
  product("left", half(a, 0), half(a, 1), half(y, 0));
  curve("right", half(x, 0), half(y, 1));
  finish();
  EXPECT_NE(buffer_of(y), buffer_of(a));
}

TEST_F(LivenessTest, GradientsLieWhereTheCallerSaysAndLiveUntilTheEnd) {
  const Operand x = builder_.input("x", DType::f32, {4, 16});
  const Operand a = tensor("a"), written = tensor("written"), added_to = tensor("added_to"),
                outside = tensor("outside");
  curve("a", x, a);
  curve("written", a, written);
  curve("outside", a, outside);
  builder_.call("optimizer.accumulate_gradient", "added_to", {{"gradient", a}, {"accumulator", added_to}});
  curve("y", a, builder_.output("y", {4, 16}));
  finish();
  for (const Operand& gradient : {written, added_to, outside}) {
    circuit_.tensors[static_cast<std::size_t>(gradient.tensor)].storage = Storage::gradient;
  }
  liveness_ = liveness_of(circuit_, [](const CircuitTensor& tensor) -> std::int64_t {
    return tensor.name == "written" ? 1024 : tensor.name == "added_to" ? 64 : -1;
  });
  const auto life = [&](const Operand& operand) {
    return liveness_.buffers[static_cast<std::size_t>(buffer_of(operand))];
  };
  EXPECT_EQ(buffer_of(outside), -1);
  EXPECT_EQ(life(written).place, 1024);
  EXPECT_EQ(life(written).first, 1);
  EXPECT_EQ(life(written).last, 5);
  EXPECT_EQ(life(added_to).place, 64);
  EXPECT_EQ(life(added_to).first, 0);
}

}  // namespace
}  // namespace ingot
