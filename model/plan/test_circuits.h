// A fixture for tests of rewrites: random weights, and circuits that are planned and run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/all_operations.h"
#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/workers.h"
#include "model/circuit/builder.h"
#include "model/plan/packed_weights.h"
#include "model/plan/plan.h"
#include "model/plan/rewrite.h"
#include "tensor/block_codec.h"

namespace ingot {

class ProductCircuitTest : public testing::Test {
 protected:
  void add_weight(std::string_view name, DType dtype, const Shape& shape) {
    const AnyView view = weights_.add_owned(name, dtype, shape).value();
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      std::vector<float> numbers(static_cast<std::size_t>(shape[1]));
      for (float& number : numbers) number = static_cast<float>(random_.normal());
      encode_row(dtype, numbers.data(), view.row(row), shape[1]);
    }
  }

  // All outputs, one behind the other.
  std::vector<float> run(const Circuit& circuit) {
    Plan plan = Plan::create(circuit, table_, workers_->count()).value();
    const Memory arena = Memory::allocate(Bytes(static_cast<std::size_t>(plan.arena_bytes()))).value();
    const Memory scratch = Memory::allocate(Bytes(plan.scratch_bytes())).value();
    EXPECT_TRUE(plan.bind(arena.data(), [](const CircuitTensor&) { return nullptr; }).ok());
    RandomNumbers numbers(5);
    const auto x = plan.tensor("x").as<float>();
    for (std::int64_t index = 0; index < x.count(); ++index) x.data()[index] = static_cast<float>(numbers.normal());
    Context context{*workers_, scratch.bytes()};
    const Result<void> done = plan.run(context);
    EXPECT_TRUE(done.ok()) << done.error().text();
    std::vector<float> all;
    for (const CircuitTensor& tensor : circuit.tensors) {
      if (tensor.storage != Storage::output) continue;
      const auto values = plan.tensor(tensor.name).as<float>();
      all.insert(all.end(), values.data(), values.data() + values.count());
    }
    return all;
  }

  Weights packed(const Circuit& circuit) {
    Context context{*workers_, {}};
    return pack_weights(circuit, find_packable_weights(circuit), table_, context).value();
  }

  // Names of the operations that are left after all rewrites, those of packed weights among them where it `packs`; what
  // they give is near what the circuit gave before.
  std::string operations_after_rewrites(Circuit circuit, double tolerance, bool packs = false) {
    const std::vector<float> expected = run(circuit);
    const Weights made = packs ? packed(circuit) : Weights();
    EXPECT_TRUE(apply_rewrites(circuit, {.packed = &made}).ok());
    const std::vector<float> found = run(circuit);
    EXPECT_EQ(found.size(), expected.size());
    for (std::size_t index = 0; index < std::min(found.size(), expected.size()); ++index) {
      EXPECT_NEAR(found[index], expected[index], tolerance) << index;
    }
    std::string text;
    for (const Step& step : circuit.steps) text += std::string(step.operation->name) + " ";
    return text;
  }

  RandomNumbers random_{3};
  Weights weights_;
  KernelTable table_ = KernelTable::select(all_operations(), Machine::detect().features, {}).value();
  std::unique_ptr<Workers> workers_ = Workers::create({.threads = 2}).value();
};

}  // namespace ingot
