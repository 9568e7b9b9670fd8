#include "model/plan/norm_coding.h"

#include "model/plan/test_circuits.h"

namespace ingot {
namespace {

class NormCodingTest : public ProductCircuitTest {
 protected:
  void SetUp() override {
    add_weight("gamma", DType::f32, {1, 256});
    for (const DType type : {DType::q8_0, DType::q4_0, DType::q4_k, DType::f32}) {
      add_weight(name_of(type), type, {24, 256});
    }
  }

  struct Form {
    DType first = DType::q8_0, second = DType::q4_0;
    std::int64_t rows = 3;
    bool with_residual = false, is_read_elsewhere = false, is_alone = false;
  };

  Circuit circuit(const Form& form) {
    CircuitBuilder builder(weights_, {.runs = {form.rows}, .outputs = form.rows});
    const Shape shape = {form.rows, 256};
    Operand x = builder.input("x", DType::f32, shape);
    if (form.with_residual) {
      const Operand sum = builder.output("sum", shape);
      builder.call("elementwise.residual_add", "sum", {{"x", x}, {"residual", x}, {"y", sum}});
      x = sum;
    }
    const Operand y = builder.activation("normed", shape);
    const Operand gamma = builder.reshaped(builder.weight("gamma", {1, 256}), {256});
    builder.call("norm.rms_norm", "normed", {{"x", x}, {"gamma", gamma}, {"y", y}});
    for (const DType type : {form.first, form.second}) {
      if (form.is_alone && type == form.second) continue;
      const std::string name(name_of(type));
      builder.call("linear.matmul", name,
                   {{"x", y},
                    {"weights", builder.weight(name, {24, 256})},
                    {"y", builder.output("product." + name, {form.rows, 24})}});
    }
    if (form.is_read_elsewhere) {
      builder.call("activation.silu", "curve", {{"x", y}, {"y", builder.output("curved", shape)}});
    }
    return builder.finish().value();
  }

  // A code that falls on the other side moves a sum by the step of a block, 3 / 127, times one weight.
  std::string operations(const Form& form) { return operations_after_rewrites(circuit(form), 0.1); }
};

TEST_F(NormCodingTest, ANormThatOnlyProductsReadMakesTheirCodes) {
  for (const std::int64_t rows : {1, 4, 40}) {
    EXPECT_EQ(operations({.rows = rows}), "norm.coded_rms_norm linear.joint_matmul ");
    EXPECT_EQ(operations({.rows = rows, .with_residual = true}), "norm.coded_rms_norm linear.joint_matmul ");
  }
}

TEST_F(NormCodingTest, AProductAloneTakesCodesToo) {
  for (const std::int64_t rows : {1, 4, 40}) {
    EXPECT_EQ(operations({.rows = rows, .is_alone = true}), "norm.coded_rms_norm linear.matmul ");
  }
  EXPECT_EQ(operations({.first = DType::f32, .is_alone = true}), "norm.rms_norm linear.matmul ");
}

TEST_F(NormCodingTest, WhatOthersReadIsWritten) {
  EXPECT_EQ(operations({.is_read_elsewhere = true}), "norm.rms_norm linear.joint_matmul activation.silu ");
}

TEST_F(NormCodingTest, WeightsOfAnotherBlockOrOfFloatsReadFloats) {
  EXPECT_EQ(operations({.second = DType::q4_k}), "norm.rms_norm linear.joint_matmul ");
  // No way of multiplying takes floats and blocks together.
  EXPECT_EQ(operations({.first = DType::f32}), "norm.rms_norm linear.matmul linear.matmul ");
}

TEST_F(NormCodingTest, TrainingKeepsFloats) {
  Circuit made = circuit({});
  ASSERT_TRUE(apply_rewrites(made, {.fusion = Fusion::gates}).ok());
  EXPECT_EQ(made.steps.size(), 3u);
}

}  // namespace
}  // namespace ingot
