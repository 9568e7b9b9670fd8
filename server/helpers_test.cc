#include "server/helpers.h"

#include <gtest/gtest.h>

#include <atomic>

namespace ingot {
namespace {

TEST(Helpers, DoAllThatWasHandedInBeforeTheyEnd) {
  std::atomic<int> done = 0;
  {
    Helpers helpers(3);
    for (int task = 0; task < 1000; ++task) {
      helpers.run([&] {
        if (++done == 500) helpers.run([&] { ++done; });
      });
    }
  }
  EXPECT_EQ(done, 1001);
}

}  // namespace
}  // namespace ingot
