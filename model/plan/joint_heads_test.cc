#include "model/plan/joint_heads.h"

#include "model/plan/test_circuits.h"

namespace ingot {
namespace {

class JointHeadsTest : public ProductCircuitTest {
 protected:
  struct Form {
    double second_base = 10000;
    bool is_read_between = false, in_other_layer = false;
  };

  // Two tensors that are turned by the positions of the same tokens.
  Circuit circuit(const Form& form) {
    CircuitBuilder builder(weights_, {.runs = {3}, .outputs = 3});
    const Operand positions = builder.input("positions", DType::i32, {3});
    const Operand x = builder.input("x", DType::f32, {3, 4, 8});
    const auto turn = [&](const std::string& name, double base) {
      const Operand y = builder.output(name + "_turned", {3, 4, 8});
      builder.call("position.rope", name, {{"x", x}, {"positions", positions}, {"y", y}},
                   {{"rotary_dimensions", std::int64_t{8}}, {"base", base}});
      return y;
    };
    const Operand y = turn("first", 10000);
    if (form.is_read_between) {
      builder.call("activation.silu", "curve", {{"x", y}, {"y", builder.output("curved", {3, 4, 8})}});
    }
    turn("second", form.second_base);
    Circuit made = builder.finish().value();
    if (form.in_other_layer) made.steps.back().layer = 7;
    return made;
  }

  std::string operations(const Form& form) {
    Circuit joined = circuit(form);
    const std::vector<float> expected = run(joined);
    join_rotations(joined);
    EXPECT_EQ(run(joined), expected);
    std::string text;
    for (const Step& step : joined.steps) text += std::string(step.operation->name) + " ";
    return text;
  }
};

TEST_F(JointHeadsTest, WhatTurnsAlikeIsTurnedTogether) { EXPECT_EQ(operations({}), "position.joint_rope "); }

TEST_F(JointHeadsTest, OtherwiseTheyStayApart) {
  const std::string apart = "position.rope position.rope ";
  EXPECT_EQ(operations({.second_base = 500}), apart);
  EXPECT_EQ(operations({.in_other_layer = true}), apart);
  EXPECT_EQ(operations({.is_read_between = true}), "position.rope activation.silu position.rope ");
}

// Keys that are turned and stored, with what is done between.
class RotatedStoreTest : public ProductCircuitTest {
 protected:
  struct Form {
    bool is_read_between = false, stores_others = false;
  };

  std::string operations(const Form& form) {
    CircuitBuilder builder(weights_, {.runs = {1}, .outputs = 1});
    const Operand positions = builder.input("positions", DType::i32, {1});
    const Operand sequences = builder.input("sequences", DType::i32, {1});
    const Operand table = builder.input("table", DType::i32, {1, 1});
    const Operand x = builder.input("x", DType::f32, {1, 2, 8});
    const Operand queries = builder.output("queries", {1, 2, 8});
    const Operand keys = builder.output("keys", {1, 2, 8});
    builder.call("position.joint_rope", "turn",
                 {{"first", x}, {"second", x}, {"positions", positions}, {"first_y", queries}, {"second_y", keys}},
                 {{"rotary_dimensions", std::int64_t{8}}, {"base", 500.0}});
    if (form.is_read_between) {
      builder.call("activation.silu", "curve", {{"x", keys}, {"y", builder.output("curved", {1, 2, 8})}});
    }
    const Operand stored = form.stores_others ? x : keys;
    builder.call("cache.joint_store_paged", "store",
                 {{"keys", stored},
                  {"values", x},
                  {"sequences", sequences},
                  {"positions", positions},
                  {"block_table", table},
                  {"k_pages", builder.output("k_pages", {1, 2, 4, 8})},
                  {"v_pages", builder.output("v_pages", {1, 2, 4, 8})}});
    Circuit circuit = builder.finish().value();
    const std::vector<float> expected = run(circuit);
    join_rotations_with_stores(circuit);
    EXPECT_EQ(run(circuit), expected);
    std::string text;
    for (const Step& step : circuit.steps) text += std::string(step.operation->name) + " ";
    EXPECT_EQ(circuit.steps[0].attributes.size(), 2u);
    return text;
  }
};

TEST_F(RotatedStoreTest, WhatWasTurnedIsStoredAtOnce) { EXPECT_EQ(operations({}), "cache.rotated_store_paged "); }

TEST_F(RotatedStoreTest, OtherwiseItIsStoredByItself) {
  EXPECT_EQ(operations({.is_read_between = true}), "position.joint_rope activation.silu cache.joint_store_paged ");
  EXPECT_EQ(operations({.stores_others = true}), "position.joint_rope cache.joint_store_paged ");
}

}  // namespace
}  // namespace ingot
