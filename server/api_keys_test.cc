#include "server/api_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

namespace ingot {
namespace {

class KeyFile {
 public:
  explicit KeyFile(const std::string& text, mode_t mode = 0600) : path_(::testing::TempDir() + "ingot_key_file") {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
  }
  ~KeyFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

http::Request with(std::string name, std::string value) {
  http::Request request;
  request.headers.push_back({std::move(name), std::move(value)});
  return request;
}

TEST(ApiKeys, FindsEachKeyOfTheFileAndNoOther) {
  const KeyFile file("# of two people\nfirst-key\n\nsecond-key\r\n");
  const auto keys = ApiKeys::read(file.path());
  ASSERT_TRUE(keys.ok()) << keys.error().text();
  EXPECT_TRUE(keys.value().are_needed());
  EXPECT_EQ(keys.value().find(with("Authorization", "Bearer first-key")), 0u);
  EXPECT_EQ(keys.value().find(with("authorization", "bearer second-key")), 1u);
  EXPECT_EQ(keys.value().find(with("X-Api-Key", "second-key")), 1u);
  EXPECT_EQ(keys.value().find(with("X-Api-Key", "")), std::nullopt);
  EXPECT_EQ(keys.value().find({}), std::nullopt);
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer first-ke", "Bearer first-keyx", "Bearer FIRST-KEY",
                            "Basic first-key", "first-key", "Bearer # of two people", "Bearer first-keyfirst-key"}) {
    EXPECT_EQ(keys.value().find(with("Authorization", wrong)), std::nullopt) << wrong;
  }
}

TEST(ApiKeys, AFileThatOthersCanReadIsRefused) {
  for (const mode_t mode : {0640, 0604, 0644}) {
    const KeyFile file("key\n", mode);
    const auto keys = ApiKeys::read(file.path());
    ASSERT_FALSE(keys.ok());
    EXPECT_NE(keys.error().text().find("chmod 600"), std::string_view::npos);
  }
}

TEST(ApiKeys, AFileWithoutAKeyOrWithOneThatNoHeaderCarriesIsRefused) {
  for (const char* text : {"", "# nothing\n\n", "two words\n", "t\xc3\xbcr\n"}) {
    const KeyFile file(text);
    EXPECT_FALSE(ApiKeys::read(file.path()).ok()) << text;
  }
  EXPECT_FALSE(ApiKeys::read("/nowhere/at/all").ok());
}

TEST(ApiKeys, NobodyNeedsOneWhereThereAreNone) { EXPECT_FALSE(ApiKeys().are_needed()); }

}  // namespace
}  // namespace ingot
