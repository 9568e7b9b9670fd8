// Every mistake that a template can make is named by finish(), and the first one is the one that is named.
#include "model/circuit/builder.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

class BuilderTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(weights_.add_owned("blk.1.attn_q.weight", DType::f32, {8, 4}).ok());
    ASSERT_TRUE(weights_.add_owned("output_norm.weight", DType::f32, {4}).ok());
    ASSERT_TRUE(weights_.add_owned("written_again.weight", DType::f32, {4}).ok());
  }

  void expect_mistake(ErrorCode code, std::string_view text) {
    const Result<Circuit> circuit = builder_.finish();
    ASSERT_FALSE(circuit.ok());
    EXPECT_EQ(circuit.error().code(), code);
    EXPECT_EQ(circuit.error().text(), text);
  }

  Weights weights_;
  CircuitBuilder builder_{weights_, {.runs = {2, 3}, .outputs = 2}, {.longest = 32}};
};

TEST_F(BuilderTest, WritesDownWhatIsCalled) {
  const Operand x = builder_.input("x", DType::f32, {5, 4});
  builder_.begin_layer(1);
  const Operand y = builder_.activation("attn_q", {5, 8});
  builder_.call("linear.matmul", "attn_q", {{"x", x}, {"weights", builder_.weight("attn_q.weight", {8, 4})}, {"y", y}});
  const Result<Circuit> circuit = builder_.finish();
  ASSERT_TRUE(circuit.ok()) << circuit.error().text();
  ASSERT_EQ(circuit.value().steps.size(), 1u);
  EXPECT_EQ(circuit.value().steps[0].name, "blk.1.attn_q");
  EXPECT_EQ(circuit.value().steps[0].layer, 1);
  EXPECT_NE(circuit.value().find("blk.1.attn_q.weight"), nullptr);
}

TEST_F(BuilderTest, AMissingWeight) {
  builder_.begin_layer(0);
  EXPECT_FALSE(builder_.weight("attn_q.weight", {8, 4}).is_present());
  EXPECT_FALSE(builder_.optional_weight("attn_q.bias", {8}).is_present());
  expect_mistake(ErrorCode::not_found, "expected a weight blk.0.attn_q.weight of [8, 4], found none of that name");
}

TEST_F(BuilderTest, AWeightInAnExecutionLayoutIsFoundAndItsProductTold) {
  ASSERT_TRUE(weights_.add_owned("packed.weight@interleaved8", DType::q8_0, {8, 32}).ok());
  ASSERT_TRUE(builder_.has_weight("packed.weight"));
  const Operand x = builder_.input("x", DType::f32, {5, 32});
  const Operand y = builder_.activation("y", {5, 8});
  builder_.call("linear.matmul", "y", {{"x", x}, {"weights", builder_.weight("packed.weight", {8, 32})}, {"y", y}});
  const Result<Circuit> circuit = builder_.finish();
  ASSERT_TRUE(circuit.ok()) << circuit.error().text();
  EXPECT_EQ(circuit.value().steps[0].integer("layout"), 1);
}

TEST_F(BuilderTest, AWeightInAnExecutionLayoutIsReadByNothingElse) {
  ASSERT_TRUE(weights_.add_owned("packed.weight@interleaved8", DType::q8_0, {8, 32}).ok());
  const Operand table = builder_.weight("packed.weight", {8, 32});
  builder_.call("elementwise.add", "y", {{"a", table}});
  const Result<Circuit> circuit = builder_.finish();
  ASSERT_FALSE(circuit.ok());
  EXPECT_NE(circuit.error().text().find("ingot pack --undo"), std::string_view::npos) << circuit.error().text();
}

TEST_F(BuilderTest, AnOptionalWeightMayBeMissing) {
  EXPECT_FALSE(builder_.optional_weight("output.bias", {8}).is_present());
  EXPECT_TRUE(builder_.finish().ok());
}

TEST_F(BuilderTest, AWeightOfAnotherShape) {
  EXPECT_FALSE(builder_.weight("output_norm.weight", {8}).is_present());
  expect_mistake(ErrorCode::invalid_argument, "expected output_norm.weight of [8], found [4]");
}

TEST_F(BuilderTest, OuterAxesOfOneMayBeMissing) {
  const Operand weight = builder_.weight("written_again.weight", {1, 1, 4});
  EXPECT_EQ(weight.shape, Shape({1, 1, 4}));
  EXPECT_TRUE(builder_.finish().ok());
}

TEST_F(BuilderTest, AnUnknownOperation) {
  builder_.call("linear.matmull", "y", {});
  expect_mistake(ErrorCode::not_found, "expected an operation, found linear.matmull");
}

TEST_F(BuilderTest, AnUnknownField) {
  builder_.call("linear.matmul", "y", {{"xs", builder_.input("x", DType::f32, {5, 4})}});
  expect_mistake(ErrorCode::not_found, "linear.matmul: expected a field of its own, found xs");
}

TEST_F(BuilderTest, AnUnknownAttribute) {
  builder_.call("norm.rms_norm", "y", {}, {{"eps", 1e-5}});
  expect_mistake(ErrorCode::not_found, "norm.rms_norm: expected a field of its own, found eps");
}

TEST_F(BuilderTest, ATensorIsNoAttribute) {
  builder_.call("norm.rms_norm", "y", {}, {{"x", 1.0}});
  expect_mistake(ErrorCode::not_found, "norm.rms_norm: expected a field of its own, found x");
}

TEST_F(BuilderTest, AnAttributeIsNoTensor) {
  builder_.call("norm.rms_norm", "y", {{"epsilon", builder_.input("x", DType::f32, {1})}});
  expect_mistake(ErrorCode::not_found, "norm.rms_norm: expected a field of its own, found epsilon");
}

TEST_F(BuilderTest, AReshapeToAnotherNumberOfElements) {
  builder_.reshaped(builder_.activation("a", {5, 8}), {5, 9});
  expect_mistake(ErrorCode::invalid_argument, "expected as many elements as [5, 8], found [5, 9]");
}

TEST_F(BuilderTest, AReshapeThatWouldMoveElements) {
  const Operand halves = builder_.sliced(builder_.activation("a", {5, 8}), 1, 0, 4);
  builder_.reshaped(halves, {20});
  expect_mistake(ErrorCode::invalid_argument, "expected axes that can be joined without a copy, found [5, 4] for [20]");
}

TEST_F(BuilderTest, AReshapeOfASliceMaySplitItsAxes) {
  const Operand halves = builder_.sliced(builder_.activation("a", {5, 8}), 1, 4, 8);
  const Operand heads = builder_.reshaped(halves, {5, 2, 2});
  EXPECT_EQ(heads.byte_offset, 16);
  EXPECT_EQ(heads.byte_strides, Strides({32, 8, 4}));
  EXPECT_TRUE(builder_.finish().ok());
}

TEST_F(BuilderTest, AReshapeDropsAnAxisOfOneElementWhereverItLies) {
  const Operand middle = builder_.sliced(builder_.activation("a", {5, 3, 8}), 1, 1, 2);
  const Operand rows = builder_.reshaped(middle, {5, 8});
  EXPECT_EQ(rows.byte_offset, 32);
  EXPECT_EQ(rows.byte_strides, Strides({96, 4}));
  EXPECT_TRUE(builder_.finish().ok());
}

TEST_F(BuilderTest, SlicesOutOfRange) {
  struct Slice {
    int axis;
    std::int64_t begin, end;
    std::string_view found;
  };
  for (const Slice& slice :
       {Slice{2, 0, 1, "0 to 1 of axis 2"}, Slice{-1, 0, 1, "0 to 1 of axis -1"}, Slice{1, -1, 1, "-1 to 1 of axis 1"},
        Slice{1, 3, 2, "3 to 2 of axis 1"}, Slice{1, 0, 9, "0 to 9 of axis 1"}}) {
    CircuitBuilder builder(weights_, {.runs = {1}});
    builder.sliced(builder.activation("a", {5, 8}), slice.axis, slice.begin, slice.end);
    const Result<Circuit> circuit = builder.finish();
    ASSERT_FALSE(circuit.ok()) << slice.found;
    EXPECT_EQ(circuit.error().code(), ErrorCode::out_of_range);
    EXPECT_EQ(circuit.error().text(), "expected a slice of [5, 8], found " + std::string(slice.found));
  }
}

TEST_F(BuilderTest, TheSameNameTwice) {
  builder_.begin_layer(3);
  builder_.activation("ffn", {5, 8});
  builder_.activation("ffn", {5, 8});
  expect_mistake(ErrorCode::invalid_argument, "expected a new name for a tensor, found blk.3.ffn twice");
}

TEST_F(BuilderTest, TheFirstMistakeIsNamed) {
  builder_.call("no.such", "y", {});
  builder_.weight("nothing.weight", {1});
  builder_.fail(Error::of(ErrorCode::corrupt, "later"));
  expect_mistake(ErrorCode::not_found, "expected an operation, found no.such");
}

TEST_F(BuilderTest, EveryRunThatIsRememberedIsAGroup) {
  const Operand x = builder_.input("x", DType::f32, {5, 4});
  EXPECT_EQ(builder_.run_groups(), 2);
  EXPECT_EQ(builder_.of_run_group(x, 0).shape, Shape({1, 2, 4}));
  EXPECT_EQ(builder_.of_run_group(x, 1).shape, Shape({1, 3, 4}));
  EXPECT_EQ(builder_.of_run_group(x, 1).byte_offset, 2 * 4 * 4);
}

TEST_F(BuilderTest, EqualRunsWithoutMemoryAreOneGroup) {
  CircuitBuilder builder(weights_, {.runs = {3, 3}, .outputs = 6});
  EXPECT_EQ(builder.run_groups(), 1);
  EXPECT_EQ(builder.of_run_group(builder.input("x", DType::f32, {6, 4}), 0).shape, Shape({2, 3, 4}));
}

TEST_F(BuilderTest, ASequenceGrowsAsLongAsTheSessionLetsItOrIsItsRun) {
  EXPECT_EQ(builder_.longest_sequence(), 32);
  EXPECT_EQ(CircuitBuilder(weights_, {.runs = {2, 3}, .outputs = 2}).longest_sequence(), 3);
}

}  // namespace
}  // namespace ingot
