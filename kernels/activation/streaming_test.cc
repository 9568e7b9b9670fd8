// Generic parity runs small shapes; outputs too large for the caches take another way to memory (see tensor_map-inl.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/activation/family.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"

namespace ingot {
namespace {

constexpr std::int64_t count = (std::int64_t{64} << 20) + 37;  // floats: just above 256 MiB
constexpr float guard = -77;

float value_at(std::int64_t i) { return static_cast<float>(i * 2654435761 % 2001 - 1000) / 256; }

std::vector<float> values() {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = value_at(i);
  return x;
}

AnyView view_of(float* data) { return AnyView(View<float>(data, {count})); }

// Runs every variant this machine has, on inputs that are all x, with y `offset` floats into its memory.
template <class Expected>
void expect_streamed(std::string_view name, const std::vector<std::string_view>& inputs, std::int64_t offset,
                     Expected expected) {
  const auto operations = activation_operations();
  const auto found = std::find_if(operations.begin(), operations.end(), [&](auto* one) { return one->name == name; });
  ASSERT_NE(found, operations.end());
  const Operation& operation = **found;
  auto workers = Workers::create({.threads = 2});
  ASSERT_TRUE(workers.ok());
  Context context{*workers.value(), {}};
  std::vector<float> x = values();
  for (int variant = 0; variant < operation.reference(); ++variant) {
    const VariantInformation& row = operation.variants[static_cast<std::size_t>(variant)];
    if (availability(row, Machine::detect().features) != Availability::available) continue;
    std::vector<float> y(static_cast<std::size_t>(offset + count + 1), guard);
    const auto invocation = operation.empty();
    for (std::string_view input : inputs) {
      ASSERT_TRUE(invocation->set_tensor(operation.field_index(input), view_of(x.data())).ok());
    }
    ASSERT_TRUE(invocation->set_tensor(operation.field_index("y"), view_of(y.data() + offset)).ok());
    ASSERT_TRUE(invocation->check().ok());
    invocation->run(variant, context);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) wrong += y[static_cast<std::size_t>(offset + i)] != expected(value_at(i));
    EXPECT_EQ(wrong, 0) << row.name;
    EXPECT_EQ(y[static_cast<std::size_t>(offset) - 1], guard) << row.name;
    EXPECT_EQ(y.back(), guard) << row.name;
  }
}

TEST(Streaming, ReluWritesAllOfALargeOutputAndNothingElse) {
  expect_streamed("activation.relu", {"x"}, 3, [](float x) { return std::max(x, 0.0f); });
}

TEST(Streaming, AGateReadsTwoLargeInputs) {
  expect_streamed("activation.reglu", {"gate", "up"}, 16, [](float x) { return std::max(x, 0.0f) * x; });
}

}  // namespace
}  // namespace ingot
