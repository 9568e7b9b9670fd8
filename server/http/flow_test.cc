#include "server/http/flow.h"

#include <gtest/gtest.h>

namespace ingot::http {
namespace {

using std::chrono::seconds;

TEST(Flow, IsJudgedByAllBytesSinceItBegan) {
  const Moment begin{};
  Flow flow;
  flow.begin(begin);
  EXPECT_FALSE(flow.is_slow(begin + seconds(59), seconds(60), 1024));
  flow.add(61 * 1024 - 1);
  EXPECT_TRUE(flow.is_slow(begin + seconds(61), seconds(60), 1024));
  flow.add(1);
  EXPECT_FALSE(flow.is_slow(begin + seconds(61), seconds(60), 1024));
}

TEST(Flow, OwesNothingToAGoodBeginning) {
  const Moment begin{};
  Flow flow;
  flow.begin(begin);
  flow.add(1 << 30);
  EXPECT_FALSE(flow.is_slow(begin + seconds(60), seconds(60), 1024));
  EXPECT_FALSE(flow.is_slow(begin + seconds(119), seconds(60), 1024));
  flow.add(60 * 1024 - 1);  // a byte now and then is not enough
  EXPECT_TRUE(flow.is_slow(begin + seconds(120), seconds(60), 1024));
}

}  // namespace
}  // namespace ingot::http
