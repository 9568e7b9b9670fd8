// Attention on a device over more keys than as many splits as there may be of the shortest length hold: splits are
// longer then, and still a token of a run has the bits that it has alone. On the emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "kernels/attention/attend_cuda.h"
#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/prefill.h"
#include "kernels/device/emulated_rows.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

constexpr std::uint32_t shift = full_splits_shift(1);
constexpr std::int32_t full_splits = 1 << shift;
constexpr std::int64_t page_length = 64;
constexpr std::int64_t tokens = 2;

struct LongPages {
  DType dtype;
  std::int64_t width;
  // The first token of two sees as many whole splits of a length as there may be, and the next one sees longer ones.
  std::int32_t end;
  const char* name;
};

class AttendLongTest : public testing::TestWithParam<LongPages> {
 protected:
  const DType dtype = GetParam().dtype;
  const std::int64_t width = GetParam().width;
  const std::int32_t end = GetParam().end;
  const std::int64_t pages = end / page_length + 1;

  ConstAnyView random_pages(RandomNumbers& random) {
    const std::int64_t bytes = row_bytes(dtype, width);
    std::vector<std::byte> rows(static_cast<std::size_t>(pages * page_length * bytes));
    std::vector<float> row(static_cast<std::size_t>(width));
    for (std::size_t at = 0; at < rows.size(); at += static_cast<std::size_t>(bytes)) {
      for (float& value : row) value = static_cast<float>(random.normal());
      encode_row(dtype, row.data(), rows.data() + at, width);
    }
    return rows_.any_view(rows, dtype, {pages, 1, page_length, width});
  }

  // The same queries, keys and values each time.
  template <class Arguments>
  void fill(Arguments& a, const std::vector<std::int32_t>& lengths) {
    RandomNumbers random(11);
    std::vector<float> q(static_cast<std::size_t>(tokens * width));
    for (float& value : q) value = static_cast<float>(random.normal());
    a.q = rows_.view(q.data(), {tokens, 1, width});
    a.k_pages = random_pages(random);
    a.v_pages = random_pages(random);
    const auto sequences = static_cast<std::int64_t>(lengths.size());
    std::vector<std::int32_t> table;
    for (std::int64_t i = 0; i < sequences * pages; ++i) table.push_back(static_cast<std::int32_t>(i % pages));
    a.block_table = rows_.view(table.data(), {sequences, pages});
    a.lengths = rows_.view(lengths.data(), {sequences});
    a.scale = 0.25f;
    a.y = rows_.view(std::vector<float>(static_cast<std::size_t>(tokens * width)).data(), {tokens, 1, width});
  }

  EmulatedRows rows_;
};

TEST_P(AttendLongTest, SplitsGrowWithWhatATokenSeesAndNotWithItsNeighbours) {
  Decode::Arguments alone;
  fill(alone, {end, end + 1});
  const std::int64_t splits = std::min<std::int64_t>(full_splits, end / split_keys + 1);
  EXPECT_EQ(decode_cuda.scratch_bytes(alone, 1),
            static_cast<std::size_t>(tokens * splits * (width + 2)) * sizeof(float));
  const std::vector<float> expected = rows_.run(decode_cuda, alone);
  Prefill::Arguments together;
  fill(together, {end + 1});
  const std::int32_t begins[] = {0, tokens};
  together.run_begins = rows_.view(begins, {2});
  expect_same_bits(rows_.run(prefill_cuda, together), expected);
}

INSTANTIATE_TEST_SUITE_P(Pages, AttendLongTest,
                         testing::Values(LongPages{DType::f16, 16, full_splits* split_keys, "f16"},
                                         LongPages{DType::q8_0, 128, full_splits / 2 * split_keys,
                                                   "q8_0_of_wide_heads"}),
                         [](const auto& pages) { return std::string(pages.param.name); });

TEST(AttendedKeys, NobodySeesMoreThanTheMostSplitsFromTheStart) {
  constexpr std::int32_t keys = split_keys;
  for (const std::uint32_t shortest_shift : {shift, shift - 1}) {
    const auto length_of = [&](std::int32_t end) {
      return DeviceKeys{0, end}.split_length_shift({shift, shortest_shift});
    };
    for (const std::int32_t end : {1, 255, 8192, 8193, 16384, 16385, 32768, 32769, 1 << 20, 0x7fffffff}) {
      EXPECT_LE(((end - 1) >> length_of(end)) + 1, full_splits) << end;
      EXPECT_GE(length_of(end), split_keys_shift) << end;
    }
    const std::int32_t shortest_end = keys << shortest_shift;
    EXPECT_EQ(length_of(shortest_end), split_keys_shift);
    EXPECT_EQ(length_of(shortest_end + 1), split_keys_shift + 1);
    EXPECT_EQ(length_of(2 * keys << shift), split_keys_shift + 1);
    EXPECT_EQ(length_of((2 * keys << shift) + 1), split_keys_shift + 2);
  }
  EXPECT_EQ((DeviceKeys{100, 101}.split_length_shift({shift, shift})), split_keys_shift);
}

}  // namespace
}  // namespace ingot
