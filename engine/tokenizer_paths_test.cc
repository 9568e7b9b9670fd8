#include <gtest/gtest.h>

#include "engine/default_model.h"
#include "engine/model.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

constexpr std::string_view letters =
    R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}, "added_tokens": []})";

void expect_error(const std::string& path, std::string_view part) {
  const Result<Tokenizer> tokenizer = open_tokenizer(path);
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_NE(tokenizer.error().text().find(part), std::string_view::npos) << tokenizer.error().text();
}

TEST(OpenTokenizer, NeedsNoWeightsBesideATokenizerJson) {
  const TemporaryFolder folder;
  folder.write("tokenizer.json", letters);
  for (const std::string& path : {folder.path(), folder.path() + "/", folder.file("tokenizer.json")}) {
    const Result<Tokenizer> tokenizer = open_tokenizer(path);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
    EXPECT_EQ(tokenizer.value().encode("ba").value(), (std::vector<TokenId>{1, 0}));
  }
}

TEST(OpenTokenizer, TakesTheOneGgufFileOfAFolder) {
  const TemporaryFolder folder;
  const std::span<const std::byte> model = default_model_file();
  folder.write("m.gguf", {reinterpret_cast<const char*>(model.data()), model.size()});
  const Result<Tokenizer> tokenizer = open_tokenizer(folder.path());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().text();
  EXPECT_GT(tokenizer.value().vocabulary_size(), 256);
}

TEST(OpenTokenizer, KnowsTheBuiltInModelByItsName) {
  EXPECT_TRUE(open_tokenizer(std::string(default_model_name)).ok());
}

TEST(OpenTokenizer, NamesTheFileThatItCannotUse) {
  const TemporaryFolder folder;
  expect_error(folder.path(), folder.path());
  folder.write("tokenizer.json", "{");
  expect_error(folder.path(), "tokenizer.json'");
  expect_error("absent.gguf", "absent.gguf");
}

}  // namespace
}  // namespace ingot
