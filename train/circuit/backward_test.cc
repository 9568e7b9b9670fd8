// Circuits of a few steps whose tensors are shared, sliced and passed on: the sums of their gradients are the slopes.
#include "train/circuit/backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/all_operations.h"
#include "kernels/loss/cross_entropy.h"
#include "machine/machine.h"
#include "model/circuit/builder.h"
#include "model/plan/plan.h"
#include "train/circuit/gradient_sums.h"

namespace ingot {
namespace {

class BackwardTest : public testing::Test {
 protected:
  using Body = std::function<Operand(CircuitBuilder& builder, const Operand& rows)>;

  void SetUp() override {
    add("table", {3, 4});
    add("second", {4, 4});
    add("wide", {8, 4});
  }

  void add(std::string_view name, const Shape& shape) {
    const AnyView view = weights_.add_owned(name, DType::f32, shape).value();
    auto* values = reinterpret_cast<float*>(view.data());
    for (std::int64_t index = 0; index < view.count(); ++index) {
      values[index] = 0.5f * std::sin(static_cast<float>(index + 7 * view.count()));
    }
  }
  float* values(std::string_view name) {
    return const_cast<float*>(reinterpret_cast<const float*>(weights_.find(name)->data()));
  }

  // Rows of the table go through the body; the loss is the mean of the result's squares.
  Result<Circuit> circuit_of(const Body& body) {
    CircuitBuilder builder(weights_, {.runs = {3}, .outputs = 3});
    const Operand indices = builder.input("indices", DType::i32, {3});
    const Operand rows = builder.activation("rows", {3, 4});
    builder.call("layout.gather_rows", "rows",
                 {{"table", builder.weight("table", {3, 4})}, {"indices", indices}, {"y", rows}});
    const Operand result = body(builder, rows);
    const Operand zeros = builder.input("zeros", DType::f32, result.shape);
    builder.call("loss.mean_squared_error", "loss",
                 {{"x", result}, {"target", zeros}, {"loss", builder.output("loss", {1})}},
                 {{"reduction", static_cast<std::int64_t>(Reduction::mean)}});
    return builder.finish();
  }

  Operand matmul(CircuitBuilder& builder, std::string_view makes, const Operand& x, std::string_view weight,
                 std::int64_t outputs) {
    const Operand y = builder.activation(makes, {x.shape[0], outputs});
    builder.call("linear.matmul", makes, {{"x", x}, {"weights", builder.weight(weight, {outputs, 4})}, {"y", y}});
    return y;
  }
  Operand sum(CircuitBuilder& builder, std::string_view makes, const Operand& a, const Operand& b) {
    const Operand y = builder.activation(makes, a.shape);
    builder.call("elementwise.add", makes, {{"a", a}, {"b", b}, {"y", y}});
    return y;
  }
  Operand product(CircuitBuilder& builder, std::string_view makes, const Operand& a, const Operand& b) {
    const Operand y = builder.activation(makes, a.shape);
    builder.call("elementwise.mul", makes, {{"a", a}, {"b", b}, {"y", y}});
    return y;
  }

  Operand curve(CircuitBuilder& builder, std::string_view makes, const Operand& x) {
    const Operand y = builder.activation(makes, x.shape);
    builder.call("activation.silu", makes, {{"x", x}, {"y", y}});
    return y;
  }
  Circuit reversed(const Body& body) {
    Circuit circuit = circuit_of(body).value();
    EXPECT_TRUE(append_backward(circuit, "loss", {"table", "second", "wide"}).ok());
    return circuit;
  }

  // Runs a circuit; gradients go where `gradients` says.
  double run(Circuit circuit, std::map<std::string, std::vector<float>>& gradients) {
    const KernelTable table = KernelTable::select(all_operations(), Machine::detect().features).value();
    Result<Plan> plan = Plan::create(std::move(circuit), table, 1);
    EXPECT_TRUE(plan.ok()) << plan.error().text();
    const Memory arena = Memory::allocate(Bytes(static_cast<std::size_t>(plan.value().arena_bytes()))).value();
    const Memory scratch = Memory::allocate(Bytes(plan.value().scratch_bytes() + 64)).value();
    const auto locate = [&](const CircuitTensor& tensor) {
      std::vector<float>& gradient = gradients[tensor.name];
      gradient.resize(static_cast<std::size_t>(element_count(tensor.shape)));
      return reinterpret_cast<std::byte*>(gradient.data());
    };
    EXPECT_TRUE(plan.value().bind(arena.data(), locate).ok());
    auto* indices = reinterpret_cast<std::int32_t*>(plan.value().tensor("indices").data());
    for (std::int32_t index = 0; index < 3; ++index) indices[index] = 2 - index;
    const AnyView zeros = plan.value().tensor("zeros");
    std::fill_n(reinterpret_cast<float*>(zeros.data()), zeros.count(), 0.0f);
    if (std::byte* derivative = plan.value().tensor(loss_derivative).data()) {
      *reinterpret_cast<float*>(derivative) = 1;
    }
    const std::unique_ptr<Workers> workers = Workers::create({.threads = 1}).value();
    Context context{*workers, scratch.bytes()};
    const Result<void> done = plan.value().run(context);
    EXPECT_TRUE(done.ok()) << done.error().text();
    return *reinterpret_cast<float*>(plan.value().tensor("loss").data());
  }

  void expect_slopes(const Body& body, const WeightNames& trained = {"table", "second", "wide"}) {
    std::map<std::string, std::vector<float>> gradients;
    Result<Circuit> circuit = circuit_of(body);
    ASSERT_TRUE(circuit.ok()) << circuit.error().text();
    const Circuit forward = circuit.value();
    for (const Recompute which : {Recompute::nothing, Recompute::cheap, Recompute::layers}) {
      Circuit both = forward;
      const Result<BackwardPass> backward = append_backward(both, "loss", trained, {.recompute = which});
      ASSERT_TRUE(backward.ok()) << backward.error().text();
      std::map<std::string, std::vector<float>> others;
      run(std::move(both), others);
      if (gradients.empty()) gradients = others;
      EXPECT_EQ(others, gradients) << recompute_names[static_cast<std::size_t>(which)];
    }
    ASSERT_FALSE(gradients.empty());
    std::map<std::string, std::vector<float>> unused;
    for (const std::string& name : trained) {
      if (!gradients.contains(gradient_name(name))) continue;
      const std::vector<float>& gradient = gradients[gradient_name(name)];
      for (std::size_t index = 0; index < gradient.size(); ++index) {
        float& value = values(name)[index];
        const float before = value;
        const auto loss_at = [&](float at) {
          value = at;
          return run(circuit_of(body).value(), unused);
        };
        const double slope = (loss_at(before + 0x1p-6f) - loss_at(before - 0x1p-6f)) / 0x1p-5;
        value = before;
        EXPECT_NEAR(gradient[index], slope, 2e-4) << name << " " << index;
      }
    }
  }

  Weights weights_;
};

TEST_F(BackwardTest, ATensorReadByManyGetsTheSumOfItsParts) {
  expect_slopes([this](CircuitBuilder& builder, const Operand& rows) {
    const Operand a = matmul(builder, "a", rows, "second", 4);
    const Operand b = product(builder, "b", a, rows);
    const Operand c = product(builder, "c", rows, rows);
    return sum(builder, "d", sum(builder, "e", b, c), rows);
  });
}

TEST_F(BackwardTest, SlicesArePartsOfOneGradient) {
  expect_slopes([this](CircuitBuilder& builder, const Operand& rows) {
    const Operand wide = matmul(builder, "wide_rows", rows, "wide", 8);
    const Operand left = builder.sliced(wide, 1, 0, 4);
    const Operand right = builder.sliced(wide, 1, 4, 8);
    return sum(builder, "y", product(builder, "z", left, right), rows);
  });
}

TEST_F(BackwardTest, SlicesMayOverlapWhatOthersRead) {
  expect_slopes([this](CircuitBuilder& builder, const Operand& rows) {
    const Operand wide = matmul(builder, "wide_rows", rows, "wide", 8);
    const Operand squares = product(builder, "squares", wide, wide);
    const Operand middle = builder.sliced(wide, 1, 2, 6);
    return sum(builder, "y", product(builder, "z", middle, builder.sliced(squares, 1, 0, 4)),
               builder.sliced(squares, 1, 4, 8));
  });
}

// The same weight in two places, as tied embeddings are; a part of it in a third.
TEST_F(BackwardTest, AWeightReadTwiceGetsTheSumOfBoth) {
  expect_slopes([this](CircuitBuilder& builder, const Operand& rows) {
    const Operand a = matmul(builder, "a", rows, "second", 4);
    return matmul(builder, "b", a, "second", 4);
  });
}

TEST_F(BackwardTest, CheapStepsAreComputedAgainFromWhatIsKept) {
  const auto body = [this](CircuitBuilder& builder, const Operand& rows) {
    const Operand product_of_rows = matmul(builder, "dear", rows, "second", 4);
    const Operand bent = curve(builder, "bent", product_of_rows);
    return matmul(builder, "result", bent, "second", 4);
  };
  expect_slopes(body);
  const Circuit circuit = reversed(body);
  EXPECT_NE(circuit.find("bent.again"), nullptr);
  EXPECT_NE(circuit.find("rows.again"), nullptr);  // a row of a table is not dear either
  EXPECT_EQ(circuit.find("dear.again"), nullptr);
}

// The sum of two products: to compute it again, both would have to be kept instead of it.
TEST_F(BackwardTest, NothingIsKeptOnlyToComputeSomethingElseAgain) {
  const auto body = [this](CircuitBuilder& builder, const Operand& rows) {
    const Operand one = matmul(builder, "one", rows, "second", 4);
    const Operand two = matmul(builder, "two", one, "second", 4);
    const Operand three = matmul(builder, "three", two, "second", 4);
    const Operand both = sum(builder, "both", two, three);  // two is kept for its matrix's gradient, three is not
    return matmul(builder, "result", curve(builder, "bent", both), "second", 4);
  };
  expect_slopes(body);
  const Circuit circuit = reversed(body);
  EXPECT_EQ(circuit.find("both.again"), nullptr);
  EXPECT_NE(circuit.find("bent.again"), nullptr);
}

// Two steps write a half each: both are computed again, each once, however many read the whole.
TEST_F(BackwardTest, WhatSeveralStepsWroteIsComputedAgainByAllOfThem) {
  const auto body = [this](CircuitBuilder& builder, const Operand& rows) {
    const Operand wide = matmul(builder, "wide_rows", rows, "wide", 8);
    const Operand halves = builder.activation("halves", {3, 8});
    for (const int half : {0, 1}) {
      const Operand x = builder.sliced(wide, 1, 4 * half, 4 * half + 4);
      builder.call("activation.silu", half == 0 ? "left" : "right",
                   {{"x", x}, {"y", builder.sliced(halves, 1, 4 * half, 4 * half + 4)}});
    }
    const Operand squares = product(builder, "squares", halves, halves);
    return product(builder, "y", squares, halves);
  };
  expect_slopes(body);
  const Circuit circuit = reversed(body);
  const auto count = [&](std::string_view name) {
    return std::ranges::count(circuit.steps, name, [](const Step& step) { return std::string_view(step.name); });
  };
  EXPECT_EQ(count("left.again"), 1);
  EXPECT_EQ(count("right.again"), 1);
  EXPECT_EQ(count("squares.again"), 1);
}

TEST_F(BackwardTest, OnlyWhatIsTrainedGetsAGradient) {
  Circuit circuit = circuit_of([this](CircuitBuilder& builder, const Operand& rows) {
                      return matmul(builder, "b", matmul(builder, "a", rows, "second", 4), "second", 4);
                    }).value();
  ASSERT_TRUE(append_backward(circuit, "loss", {"second"}).ok());
  EXPECT_NE(circuit.find(gradient_name("second")), nullptr);
  EXPECT_EQ(circuit.find(gradient_name("table")), nullptr);
}

TEST_F(BackwardTest, WhatCannotBeDifferentiatedIsNamed) {
  Circuit circuit = circuit_of([this](CircuitBuilder& builder, const Operand& rows) {
                      const Operand wide = matmul(builder, "wide_rows", rows, "wide", 8);
                      return builder.sliced(wide, 1, 0, 4);
                    }).value();
  const Result<BackwardPass> part = append_backward(circuit, "loss", {"wide"});
  ASSERT_FALSE(part.ok());
  EXPECT_NE(part.error().text().find("wide_rows"), std::string_view::npos) << part.error().text();
  const Result<BackwardPass> none = append_backward(circuit, "no such loss", {"wide"});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text().find("no such loss"), std::string_view::npos);
}

}  // namespace
}  // namespace ingot
