#include "server/passes.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(Passes, EndsRequestsBeforeTheNextPassAndWhoeverIsLeftBeforeItReturns) {
  Passes passes;
  std::string events;
  const auto step = [&] {
    events += 's';
    passes.stop();
    return true;
  };
  passes.add({.step = step, .earliest_deadline = [] { return std::nullopt; }, .cancel_all = [&] { events += 'c'; }});
  passes.cancel_all();
  passes.run();
  EXPECT_EQ(events, "csc");
}

}  // namespace
}  // namespace ingot
