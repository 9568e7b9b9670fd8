// What contracts tell of their outputs, held against the cases that they have: here is the lowest floor that sees all
// of them.
#include "kernels/contract/known_outputs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/all_operations.h"
#include "kernels/contract/case_builder.h"

namespace ingot {
namespace {

// The case without memory for its required outputs, and what that was.
std::vector<ToldOutput> take_outputs_from(const Operation& operation, Invocation& invocation) {
  std::vector<ToldOutput> taken;
  for (std::size_t index = 0; index < operation.fields.size(); ++index) {
    const FieldInformation& field = operation.fields[index];
    if (field.role != Role::output || field.presence != Presence::required) continue;
    const int number = static_cast<int>(index);
    const ConstAnyView view = invocation.tensor(number);
    taken.push_back({number, view.dtype(), view.shape()});
    EXPECT_TRUE(invocation.set_tensor(number, AnyView()).ok());
  }
  return taken;
}

void expect_same(const Result<std::vector<ToldOutput>>& found, const std::vector<ToldOutput>& expected,
                 std::string_view operation) {
  ASSERT_TRUE(found.ok()) << operation;
  ASSERT_EQ(found.value().size(), expected.size()) << operation;
  for (std::size_t output = 0; output < expected.size(); ++output) {
    EXPECT_EQ(found.value()[output].shape, expected[output].shape) << operation;
    EXPECT_EQ(found.value()[output].dtype, expected[output].dtype) << operation;
  }
}

struct Counts {
  int told = 0;
  int untold = 0;
};

void expect_told(const Operation& operation, int index, Counts& counts, KnownOutputs& known) {
  CaseBuilder builder(1, Regime::ordinary, LayoutStyle::packed, 0);
  const std::unique_ptr<Invocation> invocation = operation.build(index, builder);
  const std::vector<ToldOutput> taken = take_outputs_from(operation, *invocation);
  const Result<std::vector<ToldOutput>> told = known.of(operation, *invocation);
  ++(told.ok() ? counts.told : counts.untold);
  if (!told.ok()) return;
  ASSERT_EQ(told.value().size(), taken.size()) << operation.name;
  for (std::size_t output = 0; output < taken.size(); ++output) {
    EXPECT_EQ(told.value()[output].shape, taken[output].shape) << operation.name << " case " << index;
  }
  // Now without being asked.
  take_outputs_from(operation, *invocation);
  expect_same(known.of(operation, *invocation), told.value(), operation.name);
}

TEST(ToldOutputs, HaveTheShapesOfEveryCase) {
  Counts counts;
  KnownOutputs known;
  for (const Operation* operation : all_operations()) {
    for (std::size_t index = 0; index < operation->cases.size(); ++index) {
      if (operation->cases[index].purpose != CasePurpose::parity) continue;
      expect_told(*operation, static_cast<int>(index), counts, known);
    }
  }
  // Some have a choice: a slice has as many rows as one likes.
  EXPECT_GT(counts.told, 8 * counts.untold) << counts.told << " told, " << counts.untold << " not";
}

}  // namespace
}  // namespace ingot
