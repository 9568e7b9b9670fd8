#include "model/plan/product_fusion.h"

#include "model/plan/test_circuits.h"

namespace ingot {
namespace {

class ProductFusionTest : public ProductCircuitTest {
 protected:
  void SetUp() override {
    for (const DType type : {DType::q8_0, DType::f32}) {
      const std::string prefix(name_of(type));
      add_weight(prefix + ".gate", type, {40, 64});
      add_weight(prefix + ".up", type, {40, 64});
      add_weight(prefix + ".both", type, {80, 64});
    }
    add_weight("bias", DType::f32, {1, 80});
  }

  Operand product(CircuitBuilder& builder, const std::string& name, const Operand& x, bool with_bias = false) {
    const ConstAnyView& view = *weights_.find(name);
    const Operand y = builder.activation("y." + name, {x.shape[0], view.size(0)});
    Operand bias;
    if (with_bias) bias = builder.reshaped(builder.weight("bias", {1, 80}), {80});
    builder.call("linear.matmul", name,
                 {{"x", x}, {"weights", builder.weight(name, view.shape())}, {"bias", bias}, {"y", y}});
    return y;
  }

  // f(gate) up, as templates write it.
  void gate(CircuitBuilder& builder, const Operand& gate, const Operand& up) {
    const Operand curved = builder.activation("curved", gate.shape);
    builder.call("activation.silu", "curved", {{"x", gate}, {"y", curved}});
    builder.call("elementwise.mul", "gated", {{"a", curved}, {"b", up}, {"y", builder.output("y", gate.shape)}});
  }

  enum class Form : std::uint8_t { two_weights, halves, curve, apart };
  Circuit circuit(Form form, DType type, std::int64_t rows) {
    CircuitBuilder builder(weights_, {.runs = {rows}, .outputs = rows});
    const Operand x = builder.input("x", DType::f32, {rows, 64});
    const std::string prefix(name_of(type));
    if (form == Form::halves) {
      const Operand both = product(builder, prefix + ".both", x, true);
      gate(builder, builder.sliced(both, 1, 0, 40), builder.sliced(both, 1, 40, 80));
    } else if (form == Form::curve) {
      const Operand sum = product(builder, prefix + ".both", x, true);
      builder.call("activation.gelu_tanh", "curved", {{"x", sum}, {"y", builder.output("y", sum.shape)}});
    } else {
      const Operand first = product(builder, prefix + ".gate", x);
      const Operand second = product(builder, prefix + ".up", x);
      if (form == Form::two_weights) {
        gate(builder, first, second);
      } else {
        builder.call("elementwise.add", "sum", {{"a", first}, {"b", second}, {"y", builder.output("y", first.shape)}});
        builder.call("activation.silu", "again", {{"x", first}, {"y", builder.output("z", first.shape)}});
      }
    }
    return builder.finish().value();
  }

  std::string operations(Form form, DType type, std::int64_t rows, bool packs = false) {
    return operations_after_rewrites(circuit(form, type, rows), 1e-3, packs);
  }
};

TEST_F(ProductFusionTest, AGateAndItsTwoProductsBecomeOne) {
  for (const std::int64_t rows : {1, 4, 21}) {
    EXPECT_EQ(operations(Form::two_weights, DType::q8_0, rows), "linear.gated_matmul ");
    EXPECT_EQ(operations(Form::halves, DType::q8_0, rows), "linear.gated_matmul ");
  }
  EXPECT_EQ(operations(Form::two_weights, DType::f32, 2), "linear.gated_matmul ");
}

TEST_F(ProductFusionTest, ACurveJoinsItsProduct) {
  for (const std::int64_t rows : {1, 21}) {
    EXPECT_EQ(operations(Form::curve, DType::q8_0, rows), "linear.activated_matmul ");
  }
}

TEST_F(ProductFusionTest, ProductsThatShareXAreMadeTogetherAndKeepWhatOthersRead) {
  for (const std::int64_t rows : {1, 21}) {
    EXPECT_EQ(operations(Form::apart, DType::q8_0, rows), "linear.joint_matmul elementwise.add activation.silu ");
  }
}

// No way of multiplying takes both: the reference would.
TEST_F(ProductFusionTest, FloatsAndBlocksStayApart) {
  CircuitBuilder builder(weights_, {.runs = {1}, .outputs = 1});
  const Operand x = builder.input("x", DType::f32, {1, 64});
  const Operand first = product(builder, "q8_0.gate", x);
  const Operand second = product(builder, "f32.up", x);
  builder.call("elementwise.add", "sum", {{"a", first}, {"b", second}, {"y", builder.output("y", first.shape)}});
  Circuit made = builder.finish().value();
  ASSERT_TRUE(apply_rewrites(made, {}).ok());
  EXPECT_EQ(made.steps.size(), 3u);
}

TEST_F(ProductFusionTest, PackedWeightsAreFusedAlike) {
  for (const std::int64_t rows : {1, 21}) {
    EXPECT_EQ(operations(Form::two_weights, DType::q8_0, rows, true), "linear.gated_matmul ");
    EXPECT_EQ(operations(Form::halves, DType::q8_0, rows, true), "linear.gated_matmul ");
    EXPECT_EQ(operations(Form::curve, DType::q8_0, rows, true), "linear.activated_matmul ");
    EXPECT_EQ(operations(Form::apart, DType::q8_0, rows, true), "linear.joint_matmul elementwise.add activation.silu ");
  }
}

TEST_F(ProductFusionTest, ManyRowsWithFloatsStayAsTheyAre) {
  EXPECT_EQ(operations(Form::two_weights, DType::f32, 40), "linear.matmul linear.matmul activation.swiglu ");
  EXPECT_EQ(operations(Form::curve, DType::f32, 40), "linear.matmul activation.gelu_tanh ");
}

// What a row becomes there must not depend on how many there are.
TEST_F(ProductFusionTest, OnADeviceManyRowsWithFloatsAreFusedAsFewAre) {
  for (const std::int64_t rows : {1, 40}) {
    for (const auto& [form, operation] :
         {std::pair(Form::two_weights, "linear.gated_matmul"), std::pair(Form::halves, "linear.gated_matmul"),
          std::pair(Form::curve, "linear.activated_matmul")}) {
      Circuit made = circuit(form, DType::f32, rows);
      ASSERT_TRUE(apply_rewrites(made, {.is_for_device = true}).ok());
      ASSERT_EQ(made.steps.size(), 1u);
      EXPECT_EQ(made.steps[0].operation->name, operation);
    }
  }
}

TEST_F(ProductFusionTest, TrainingKeepsProductsApart) {
  Circuit made = circuit(Form::two_weights, DType::f32, 1);
  ASSERT_TRUE(apply_rewrites(made, {.fusion = Fusion::gates}).ok());
  EXPECT_EQ(made.steps.size(), 3u);
}

}  // namespace
}  // namespace ingot
