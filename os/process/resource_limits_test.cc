#include "os/process/resource_limits.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

TEST(ResourceLimits, AreLoweredAndRaisedUpToTheMost) {
  ResourceLimits limits;
  limits.start(Resource::open_files, {1024, 4096});
  ASSERT_TRUE(limits.change(Resource::open_files, {10, 2048}).ok());
  ASSERT_TRUE(limits.change(Resource::open_files, {2048, 2048}).ok());
  EXPECT_EQ(limits.of(Resource::open_files).current, 2048u);
}

TEST(ResourceLimits, NobodyRaisesTheMost) {
  ResourceLimits limits;
  limits.start(Resource::stack, {100, 200});
  EXPECT_EQ(limits.change(Resource::stack, {100, 201}).error(), Errno::eperm);
  EXPECT_EQ(limits.change(Resource::stack, {201, 200}).error(), Errno::einval);
  EXPECT_EQ(limits.of(Resource::stack).most, 200u);
}

TEST(ResourceLimits, WithoutALimitAnyIsLower) {
  ResourceLimits limits;
  EXPECT_EQ(limits.of(Resource::core).current, ResourceLimit::unlimited);
  EXPECT_TRUE(limits.change(Resource::core, {0, ResourceLimit::unlimited}).ok());
  EXPECT_TRUE(limits.change(Resource::core, {0, 0}).ok());
}

}  // namespace
}  // namespace ingot::os
