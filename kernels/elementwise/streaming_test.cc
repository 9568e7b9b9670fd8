// Outputs so large that they are written past the caches, which no parity case is: every element is written once, from
// an aligned and from a misaligned start, and nothing beside them.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/contract/table.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/streaming.h"
#include "machine/machine.h"

namespace ingot {
namespace {

TEST(Streaming, WritesTheSameElementsAsTheReference) {
  const Machine machine = Machine::detect();
  auto workers = Workers::create({.threads = 2});
  ASSERT_TRUE(workers.ok());
  Context context{*workers.value(), {}};
  const std::int64_t count = streaming_bytes / static_cast<std::int64_t>(sizeof(float)) + 5;
  std::vector<float> a(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 1021);
  for (std::int64_t start : {1, 16}) {
    for (const Variant<Add>& variant : Add::variants()) {
      if (variant.run == nullptr || !machine.features.contains_all(variant.needs) || variant.name == "reference")
        continue;
      std::vector<float> y(a.size() + 32, -1);
      const BinaryArguments arguments{View<const float>(a.data(), {count}), View<const float>(a.data(), {count}),
                                      View<float>(y.data() + start, {count})};
      ASSERT_TRUE(streams_past_caches(arguments.y, arguments.a, arguments.b));
      variant.run(arguments, context);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) {
        const bool inside = i >= start && i < start + count;
        const float expected = inside ? 2 * a[static_cast<std::size_t>(i - start)] : -1;
        wrong += y[static_cast<std::size_t>(i)] != expected;
      }
      EXPECT_EQ(wrong, 0) << variant.name << " from element " << start;
    }
  }
}

}  // namespace
}  // namespace ingot
