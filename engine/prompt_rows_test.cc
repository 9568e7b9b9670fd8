#include "engine/prompt_rows.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(PromptRows, HalvesDownToTheLeastAndThenGivesUp) {
  PromptRows rows(512, 16, 16);
  std::vector<std::int64_t> tried = {rows.most()};
  while (rows.shrink(tried.back())) tried.push_back(rows.most());
  EXPECT_EQ(tried, (std::vector<std::int64_t>{512, 256, 128, 64, 32, 16}));
  EXPECT_EQ(rows.most(), 16);
}

TEST(PromptRows, HalvesWhatThePassHadWhereThatIsLess) {
  PromptRows rows(512, 16, 16);
  EXPECT_TRUE(rows.shrink(100));
  EXPECT_EQ(rows.most(), 50);
}

TEST(PromptRows, APassWithoutPromptsCannotHaveFewer) {
  PromptRows rows(512, 16, 16);
  EXPECT_FALSE(rows.shrink(0));
  EXPECT_EQ(rows.most(), 512);
}

TEST(PromptRows, GrowsBackATileAPassUpToAll) {
  PromptRows rows(64, 16, 16);
  while (rows.shrink(rows.most())) {
  }
  std::vector<std::int64_t> grown;
  for (int pass = 0; pass < 4; ++pass, rows.grow()) grown.push_back(rows.most());
  EXPECT_EQ(grown, (std::vector<std::int64_t>{16, 32, 48, 64}));
  EXPECT_EQ(rows.most(), 64);
}

}  // namespace
}  // namespace ingot
