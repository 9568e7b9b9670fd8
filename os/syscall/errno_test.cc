#include "os/syscall/errno.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace ingot::os {
namespace {

TEST(Errno, NumbersAreThoseOfTheHostsLinux) {
  EXPECT_EQ(static_cast<int>(Errno::eperm), EPERM);
  EXPECT_EQ(static_cast<int>(Errno::enoent), ENOENT);
  EXPECT_EQ(static_cast<int>(Errno::eagain), EWOULDBLOCK);
  EXPECT_EQ(static_cast<int>(Errno::erange), ERANGE);
  EXPECT_EQ(static_cast<int>(Errno::enosys), ENOSYS);
  EXPECT_EQ(static_cast<int>(Errno::eloop), ELOOP);
  EXPECT_EQ(static_cast<int>(Errno::etimedout), ETIMEDOUT);
  EXPECT_EQ(static_cast<int>(Errno::ehwpoison), EHWPOISON);
}

TEST(Errno, NamesStandAtTheirNumbers) {
  EXPECT_EQ(name_of(Errno::eperm), "EPERM");
  EXPECT_EQ(name_of(Errno::eagain), "EAGAIN");
  EXPECT_EQ(name_of(Errno::eopnotsupp), "EOPNOTSUPP");
  EXPECT_EQ(name_of(Errno::ehwpoison), "EHWPOISON");
  EXPECT_EQ(name_of(Errno::restart), "ERESTARTSYS");
  for (const int unused : {0, 41, 58, 134, 511}) EXPECT_EQ(name_of(Errno(unused)), "E?") << unused;
}

TEST(Answer, IsAValueOrAnErrno) {
  EXPECT_EQ(Answer<int>(7).value(), 7);
  EXPECT_EQ(Answer<int>(Errno::ebadf).error(), Errno::ebadf);
  EXPECT_TRUE(Answer<void>().ok());
  EXPECT_EQ(Answer<void>(Errno::eintr).error(), Errno::eintr);
  EXPECT_DEATH(static_cast<void>(Answer<int>(Errno::ebadf).value()), "");
}

TEST(Answer, MovesWhatItHolds) {
  const auto made = [](bool well) -> Answer<std::unique_ptr<int>> {
    if (well) return std::make_unique<int>(3);
    return Errno::enomem;
  };
  const auto doubled = [&](bool well) -> Answer<int> {
    const std::unique_ptr<int> number = TRY(made(well));
    return 2 * *number;
  };
  EXPECT_EQ(doubled(true).value(), 6);
  EXPECT_EQ(doubled(false).error(), Errno::enomem);
  Answer<std::unique_ptr<int>> kept = made(true);
  kept = made(false);
  EXPECT_FALSE(kept.ok());
  kept = made(true);
  EXPECT_EQ(*kept.value(), 3);
}

TEST(Answer, TakesAnErrorOfTheKernelAsTheNearestNumber) {
  const auto allocate = []() -> Result<int> { return Error::of(ErrorCode::out_of_memory, "no room"); };
  const auto call = [&]() -> Answer<void> {
    TRY(allocate());
    return {};
  };
  EXPECT_EQ(call().error(), Errno::enomem);
}

}  // namespace
}  // namespace ingot::os
