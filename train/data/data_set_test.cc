#include "train/data/data_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "train/data/batch_order.h"

namespace ingot {
namespace {

TEST(BatchOrderTest, IsAPermutation) {
  for (std::uint64_t count = 1; count < 200; ++count) {
    const BatchOrder order(count * 3, count % 5, count);
    std::vector<bool> is_seen(count);
    for (std::uint64_t index = 0; index < count; ++index) {
      const std::uint64_t window = order[index];
      ASSERT_LT(window, count);
      EXPECT_FALSE(is_seen[window]) << count;
      is_seen[window] = true;
    }
  }
}

TEST(BatchOrderTest, ReachesFarAndStaysInside) {
  const std::uint64_t count = (std::uint64_t{1} << 62) - 1;
  const BatchOrder order(1, 2, count);
  std::set<std::uint64_t> windows;
  for (std::uint64_t index = 0; index < 1000; ++index) windows.insert(order[count - 1 - index]);
  EXPECT_EQ(windows.size(), 1000u);
  EXPECT_LT(*windows.rbegin(), count);
  EXPECT_GT(*windows.rbegin(), count / 100 * 98);
  EXPECT_LT(*windows.begin(), count / 100 * 2);
}

// Of a random permutation one place is expected to stay, and one neighbour to follow its neighbour.
TEST(BatchOrderTest, IsShuffledAndDiffersBySeedAndEpoch) {
  constexpr std::uint64_t count = 10000;
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const BatchOrder order(seed, epoch, count);
      std::vector<std::uint64_t> windows;
      int stays = 0, follows = 0;
      std::uint64_t early = 0;  // the sum of the first tenth
      for (std::uint64_t index = 0; index < count; ++index) {
        windows.push_back(order[index]);
        stays += windows.back() == index;
        follows += index > 0 && windows[index] == windows[index - 1] + 1;
        if (index < count / 10) early += windows.back();
      }
      EXPECT_LT(stays, 10);
      EXPECT_LT(follows, 10);
      EXPECT_NEAR(static_cast<double>(early) / (count / 10), count / 2.0, count / 20.0);
      orders.insert(windows);
    }
  }
  EXPECT_EQ(orders.size(), 9u);
}

// A run that is taken up on another machine must see the same windows.
TEST(BatchOrderTest, IsTheSameEverywhere) {
  const BatchOrder order(42, 1, 1000);
  std::vector<std::uint64_t> windows;
  for (std::uint64_t index = 0; index < 6; ++index) windows.push_back(order[index]);
  EXPECT_EQ(windows, (std::vector<std::uint64_t>{491, 705, 795, 678, 302, 528}));
}

// Tokens that say where they stand.
DataSet numbered_set(std::int64_t size, const DataOptions& options) {
  std::vector<TokenId> ids(static_cast<std::size_t>(size));
  std::iota(ids.begin(), ids.end(), 0);
  TokenStream stream;
  stream.append(std::move(ids));
  Result<DataSet> set = DataSet::create(std::move(stream), options);
  EXPECT_TRUE(set.ok()) << set.error().text();
  return std::move(set).value();
}

struct Batch {
  std::vector<std::int32_t> inputs, targets;
  bool operator==(const Batch&) const = default;
};

Batch room_for(const DataSet& set, std::int64_t batch) {
  const auto size = static_cast<std::size_t>(batch * set.length());
  return {std::vector<std::int32_t>(size), std::vector<std::int32_t>(size)};
}

Batch next_batch(DataSet& set, std::int64_t batch) {
  Batch result = room_for(set, batch);
  const Result<void> filled = set.fill(batch, result.inputs, result.targets);
  EXPECT_TRUE(filled.ok()) << filled.error().text();
  return result;
}

TEST(DataSetTest, TargetsAreTheNextTokens) {
  DataSet set = numbered_set(1000, {.length = 16, .seed = 3});
  const Batch batch = next_batch(set, 5);
  for (std::size_t row = 0; row < 5; ++row) {
    const std::int32_t first = batch.inputs[row * 16];
    EXPECT_EQ(first % 16, 0);
    for (std::size_t column = 0; column < 16; ++column) {
      EXPECT_EQ(batch.inputs[row * 16 + column], first + static_cast<std::int32_t>(column));
      EXPECT_EQ(batch.targets[row * 16 + column], first + static_cast<std::int32_t>(column) + 1);
    }
  }
}

TEST(DataSetTest, EveryWindowComesOnceAnEpoch) {
  for (const std::int64_t size : {40, 41, 97, 100, 101, 257}) {
    for (const std::int64_t length : {1, 3, 7}) {
      DataSet set = numbered_set(size, {.length = length, .seed = 9});
      const auto windows = static_cast<std::int64_t>(set.training_windows());
      EXPECT_GE(windows, 1);
      // Batches that do not divide the epoch: three epochs' worth of windows.
      std::map<std::int32_t, int> seen;
      for (std::int64_t count = 0; count < windows * 3; count += windows) {
        for (std::int64_t left = windows; left > 0;) {
          const std::int64_t batch = std::min<std::int64_t>(left, 4);
          const Batch now = next_batch(set, batch);
          for (std::int64_t row = 0; row < batch; ++row) ++seen[now.inputs[static_cast<std::size_t>(row * length)]];
          left -= batch;
        }
      }
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(windows));
      for (const auto& [first, count] : seen) EXPECT_EQ(count, 3) << first;
    }
  }
}

TEST(DataSetTest, ABatchGoesOnWithTheNextEpoch) {
  DataSet set = numbered_set(100, {.length = 10, .validation_fraction = 0, .seed = 5});
  ASSERT_EQ(set.training_windows(), 9u);
  next_batch(set, 7);
  EXPECT_EQ(set.position(), (DataPosition{0, 7}));
  const Batch across = next_batch(set, 7);
  EXPECT_EQ(set.position(), (DataPosition{1, 5}));
  for (std::size_t row = 0; row < 7; ++row) {
    const BatchOrder order(5, row < 2 ? 0 : 1, 9);
    EXPECT_EQ(across.inputs[row * 10], static_cast<std::int32_t>(order[row < 2 ? row + 7 : row - 2] * 10));
  }
}

TEST(DataSetTest, ResumingIsContinuing) {
  const DataOptions options{.length = 8, .seed = 11};
  DataSet set = numbered_set(500, options);
  for (int step = 0; step < 40; ++step) {
    const DataPosition position = set.position();
    DataSet resumed = numbered_set(500, options);
    ASSERT_TRUE(resumed.seek(position).ok());
    const Batch expected = next_batch(set, 6);
    EXPECT_EQ(next_batch(resumed, 6), expected);
    EXPECT_EQ(resumed.position(), set.position());
  }
  EXPECT_GT(set.position().epoch, 2u);
  const Result<void> beyond = set.seek({0, set.training_windows() + 1});
  ASSERT_FALSE(beyond.ok());
  EXPECT_TRUE(set.seek({7, set.training_windows()}).ok());
  next_batch(set, 1);
  EXPECT_EQ(set.position(), (DataPosition{8, 1}));
}

TEST(DataSetTest, NoTokenIsInBothParts) {
  for (const double fraction : {0.0001, 0.01, 0.3, 0.5, 0.99}) {
    for (const std::int64_t size : {22, 23, 45, 200, 1001}) {
      DataSet set = numbered_set(size, {.length = 10, .validation_fraction = fraction});
      ASSERT_GE(set.training_windows(), 1u);
      ASSERT_GE(set.validation_windows(), 1u);
      std::set<std::int32_t> training, validation;
      for (std::uint64_t window = 0; window < set.training_windows(); ++window) {
        const Batch batch = next_batch(set, 1);
        training.insert(batch.inputs.begin(), batch.inputs.end());
        training.insert(batch.targets.begin(), batch.targets.end());
      }
      for (std::uint64_t window = 0; window < set.validation_windows(); ++window) {
        Batch batch = room_for(set, 1);
        ASSERT_TRUE(set.fill_validation(window, 1, batch.inputs, batch.targets).ok());
        validation.insert(batch.inputs.begin(), batch.inputs.end());
        validation.insert(batch.targets.begin(), batch.targets.end());
      }
      EXPECT_EQ(training.size(), set.training_windows() * 10 + 1);
      EXPECT_EQ(validation.size(), set.validation_windows() * 10 + 1);
      EXPECT_LT(*training.rbegin(), *validation.begin());
      EXPECT_EQ(*validation.rbegin(), size - 1);
    }
  }
}

TEST(DataSetTest, ValidationIsTheLastFraction) {
  const DataSet set = numbered_set(10001, {.length = 10, .validation_fraction = 0.05});
  EXPECT_EQ(set.validation_windows(), 50u);
  EXPECT_EQ(set.training_windows(), 949u);
  const DataSet all = numbered_set(10001, {.length = 10, .validation_fraction = 0});
  EXPECT_EQ(all.validation_windows(), 0u);
  EXPECT_EQ(all.training_windows(), 1000u);
}

TEST(DataSetTest, MistakesAreNamed) {
  const auto error_of = [](std::int64_t size, const DataOptions& options) {
    TokenStream stream;
    stream.append(std::vector<TokenId>(static_cast<std::size_t>(size)));
    const Result<DataSet> set = DataSet::create(std::move(stream), options);
    return std::string(set.ok() ? "" : set.error().text());
  };
  EXPECT_EQ(error_of(10, {.length = 10, .validation_fraction = 0}),
            "training data: expected at least 11 tokens (one window of length 10 and one more), found 10");
  EXPECT_EQ(error_of(21, {.length = 10}),
            "training data: expected at least 22 tokens (a window for training and one for validation of length 10 and "
            "one more), found 21");
  EXPECT_EQ(error_of(11, {.length = 10, .validation_fraction = 0}), "");
  EXPECT_EQ(error_of(22, {.length = 10}), "");
  EXPECT_NE(error_of(100, {.length = 0}), "");
  EXPECT_NE(error_of(100, {.length = 10, .validation_fraction = 1}), "");
  EXPECT_NE(error_of(100, {.length = 10, .validation_fraction = -0.1}), "");
  EXPECT_NE(error_of(100, {.length = 10, .validation_fraction = std::numeric_limits<double>::quiet_NaN()}), "");

  DataSet set = numbered_set(100, {.length = 10});
  std::vector<std::int32_t> right(20), wrong(19);
  const Result<void> sizes = set.fill(2, right, wrong);
  ASSERT_FALSE(sizes.ok());
  EXPECT_EQ(sizes.error().text(), "batch: expected inputs and targets of 2 x 10 tokens, found 20 and 19");
  EXPECT_FALSE(set.fill(0, {}, {}).ok());
  EXPECT_FALSE(set.fill(std::int64_t{1} << 62, right, right).ok());
  EXPECT_EQ(set.position(), DataPosition{});
  EXPECT_FALSE(set.fill_validation(0, 2, right, right).ok());
  EXPECT_FALSE(set.fill_validation(~std::uint64_t{0}, 1, std::span(right).first(10), std::span(right).first(10)).ok());
}

}  // namespace
}  // namespace ingot
