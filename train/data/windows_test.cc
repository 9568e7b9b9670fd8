#include "train/data/windows.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace ingot {
namespace {

constexpr TokenId end_token = 0;

// Documents of these lengths, each followed by the token that ends it.
TokenStream stream_of(std::span<const int> lengths) {
  std::vector<TokenId> ids;
  for (const int length : lengths) {
    ids.insert(ids.end(), static_cast<std::size_t>(length), 7);
    ids.push_back(end_token);
  }
  TokenStream stream;
  stream.append(std::move(ids));
  return stream;
}

std::vector<std::uint64_t> training_begins(const Windows& windows) {
  std::vector<std::uint64_t> begins;
  for (std::uint64_t index = 0; index < windows.training(); ++index) begins.push_back(windows.training_begin(index));
  return begins;
}

TEST(Windows, BeginWhereDocumentsDo) {
  // Ends stand at 3, 8, 12, 22 and 25.
  const TokenStream stream = stream_of(std::vector<int>{3, 4, 3, 9, 2});
  const Windows windows = Windows::from_documents(stream, end_token, 10, 0).value();
  // Two documents and a part of the third; that one from its beginning, and so on.
  EXPECT_EQ(training_begins(windows), (std::vector<std::uint64_t>{0, 8, 12}));
}

TEST(Windows, GoOnInsideOfALongDocument) {
  const TokenStream stream = stream_of(std::vector<int>{2, 30, 4});
  const Windows windows = Windows::from_documents(stream, end_token, 10, 0).value();
  EXPECT_EQ(training_begins(windows), (std::vector<std::uint64_t>{0, 2, 12, 22}));
}

TEST(Windows, OfDocumentsKeepTheirPromises) {
  RandomNumbers random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> lengths(2 + random.below(40));
    for (int& length : lengths) length = static_cast<int>(random.below(30));
    const TokenStream stream = stream_of(lengths);
    const std::uint64_t length = 1 + random.below(20);
    const double fraction = round % 3 == 0 ? 0 : 0.2;
    const Result<Windows> cut = Windows::from_documents(stream, end_token, length, fraction);
    if (!cut.ok()) continue;
    const Windows& windows = cut.value();
    std::vector<TokenId> ids(stream.size());
    stream.copy(0, ids);
    std::uint64_t covered = 0;
    for (const std::uint64_t begin : training_begins(windows)) {
      ASSERT_LT(begin + length, stream.size());
      // Nothing is left out between windows, and one that begins inside of a document follows the one before it.
      ASSERT_LE(begin, covered);
      if (begin > 0 && ids[begin] != end_token) {
        ASSERT_EQ(begin, covered);
      }
      covered = begin + length;
    }
    ASSERT_EQ(windows.validation() > 0, fraction > 0);
    for (std::uint64_t index = 0; index < windows.validation(); ++index) {
      ASSERT_GT(windows.validation_begin(index), covered) << "training and validation share a token";
      ASSERT_LT(windows.validation_begin(index) + length, stream.size());
    }
  }
}

TEST(Windows, TooFewTokensAreAnError) {
  const TokenStream stream = stream_of(std::vector<int>{3, 3});
  EXPECT_FALSE(Windows::from_documents(stream, end_token, 8, 0).ok());
  EXPECT_TRUE(Windows::from_documents(stream, end_token, 7, 0).ok());
  EXPECT_FALSE(Windows::from_documents(stream, end_token, 7, 0.5).ok());
}

}  // namespace
}  // namespace ingot
