#include "server/http/read_account.h"

#include <gtest/gtest.h>

namespace ingot::http {
namespace {

TEST(ReadAccount, HasRoomForAllAndLessForOne) {
  Limits limits;
  limits.all_read_bytes = 100;
  limits.peer_read_bytes = 40;
  ReadAccount account(limits);
  account.change("one", 0, 40);
  EXPECT_FALSE(account.refusal_for("one"));
  account.change("one", 0, 1);  // of another connection
  ASSERT_TRUE(account.refusal_for("one"));
  EXPECT_EQ(account.refusal_for("one")->status, 503);
  EXPECT_FALSE(account.refusal_for("two"));
  account.change("one", 40, 0);
  EXPECT_FALSE(account.refusal_for("one"));
  account.change("two", 0, 40);
  account.change("three", 0, 40);
  account.change("four", 0, 20);
  EXPECT_TRUE(account.refusal_for("five"));
  account.change("four", 20, 19);
  EXPECT_FALSE(account.refusal_for("five"));
}

}  // namespace
}  // namespace ingot::http
