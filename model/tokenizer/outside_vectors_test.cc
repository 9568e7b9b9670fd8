// Real vocabularies with what their own tokenizers make of 46 strings each, from outside of the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "model/files/gguf.h"
#include "model/files/test_files.h"
#include "model/tokenizer/detokenizer.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split_at(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t found; (found = text.find(separator, begin)) != std::string::npos;
       begin = found + separator.size()) {
    parts.push_back(text.substr(begin, found - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<TokenId> ids_of(const std::string& line) {
  std::vector<TokenId> ids;
  std::istringstream stream(line);
  for (TokenId id; stream >> id;) ids.push_back(id);
  return ids;
}

void check_vocabulary(const std::filesystem::path& path, int& passed, int& failed) {
  const Result<GgufFile> file = GgufFile::open(path.string());
  ASSERT_TRUE(file.ok()) << path << ": " << file.error().text();
  Result<TokenizerDescription> description = describe_gguf_tokenizer(file.value().metadata());
  ASSERT_TRUE(description.ok()) << path << ": " << description.error().text();
  const Result<Tokenizer> created = Tokenizer::create(std::move(description).value());
  ASSERT_TRUE(created.ok()) << path << ": " << created.error().text();
  const Tokenizer& tokenizer = created.value();

  const std::vector<std::string> texts = split_at(read_text(path.string() + ".inp"), "\n__ggml_vocab_test__\n");
  const std::vector<std::string> lines = split_at(read_text(path.string() + ".out"), "\n");
  ASSERT_LE(texts.size(), lines.size() + 1) << path;
  for (std::size_t index = 0; index < texts.size(); ++index) {
    // The file ends with a separator.
    if (index + 1 == texts.size() && texts[index].empty()) break;
    const auto ids = tokenizer.encode(texts[index], {.adds_special_tokens = false});
    ASSERT_TRUE(ids.ok()) << path << ": " << ids.error().text();
    const std::vector<TokenId> expected = index < lines.size() ? ids_of(lines[index]) : std::vector<TokenId>();
    EXPECT_EQ(ids.value(), expected) << path << " text " << index << ": '" << texts[index] << "'";
    ++(ids.value() == expected ? passed : failed);

    const TokenizerModel model = tokenizer.description().model;
    if (model == TokenizerModel::word_piece || model == TokenizerModel::unigram) continue;
    EXPECT_EQ(tokenizer.decode(ids.value()), texts[index]) << path;
    Detokenizer detokenizer(tokenizer);
    std::string streamed;
    for (TokenId id : ids.value()) streamed += detokenizer.push(id);
    EXPECT_EQ(streamed + detokenizer.finish(), texts[index]) << path;
  }
}

TEST(OutsideVectors, EveryVocabularyGivesTheIdsOfItsOwnTokenizer) {
  const auto folder = outside_data("tokenizer-vectors");
  if (!folder.has_value()) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no tokenizer-vectors";
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().extension() != ".gguf") continue;
    if (std::filesystem::exists(entry.path().string() + ".inp") &&
        std::filesystem::exists(entry.path().string() + ".out")) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  int passed = 0;
  int failed = 0;
  for (const auto& path : paths) check_vocabulary(path, passed, failed);
  std::printf("%zu vocabularies: %d texts passed, %d failed\n", paths.size(), passed, failed);
  EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace ingot
