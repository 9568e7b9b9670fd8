// Attention over a cache on a device: what a token becomes depends neither on how its prompt was cut nor on whether it
// came in a run at all. On the emulated device.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/prefill.h"
#include "kernels/device/emulated_rows.h"
#include "tensor/block_codec.h"

namespace ingot {
namespace {

constexpr std::int64_t heads = 6, key_heads = 2;
constexpr std::int64_t length = 330;  // more than one split
constexpr std::int64_t tokens = 23;   // the last ones
constexpr std::int64_t crowd = 3;     // so many times as many tokens have blocks of fewer warps where heads are wide

// Pages of whole units have a shorter way for single tokens.
struct Pages {
  DType dtype;
  std::int64_t length, count, value_dimensions, dimensions;
  const char* name;
};

class AttendDeviceTest : public testing::TestWithParam<Pages> {
 protected:
  const DType dtype = GetParam().dtype;
  const std::int64_t page_length = GetParam().length;
  const std::int64_t pages = GetParam().count;
  const std::int64_t value_dimensions = GetParam().value_dimensions;
  const std::int64_t dimensions = GetParam().dimensions;
  const std::int64_t outputs = heads * value_dimensions;

  AttendDeviceTest() {
    RandomNumbers random(7);
    q_.resize(static_cast<std::size_t>(tokens * heads * dimensions));
    for (float& value : q_) value = static_cast<float>(random.normal());
    const std::vector<float> once = q_;
    for (std::int64_t i = 1; i < crowd; ++i) q_.insert(q_.end(), once.begin(), once.end());
    encode(random, dimensions, keys_);
    encode(random, value_dimensions, values_);
    for (std::int64_t token = 0; token < crowd * tokens; ++token) {
      for (std::int64_t page = 0; page < pages; ++page) table_.push_back(static_cast<std::int32_t>(pages - 1 - page));
    }
  }

  void encode(RandomNumbers& random, std::int64_t width, std::vector<std::byte>& to) const {
    const std::int64_t bytes = row_bytes(dtype, width);
    to.resize(static_cast<std::size_t>(pages * key_heads * page_length * bytes));
    std::vector<float> row(static_cast<std::size_t>(width));
    for (std::size_t at = 0; at < to.size(); at += static_cast<std::size_t>(bytes)) {
      for (float& value : row) value = static_cast<float>(random.normal());
      encode_row(dtype, row.data(), to.data() + at, width);
    }
  }

  // Makes the first number of a position's rows infinite, or the scale of their first block.
  void spoil(std::int64_t position, std::int64_t width, bool is_negative, std::vector<std::byte>& rows) const {
    const bool is_float = dtype == DType::f32;
    const std::uint32_t bits = (is_float ? 0x7f800000u : 0x7c00u) | (!is_negative ? 0
                                                                     : is_float   ? 0x80000000u
                                                                                  : 0x8000u);
    const std::int64_t page = pages - 1 - position / page_length;
    for (std::int64_t head = 0; head < key_heads; ++head) {
      const std::int64_t row = (page * key_heads + head) * page_length + position % page_length;
      std::memcpy(rows.data() + row * row_bytes(dtype, width), &bits, is_float ? 4 : 2);
    }
  }

  // Tokens from `first` on, of sequences that have those lengths.
  template <class Arguments>
  void fill(Arguments& a, std::int64_t first, std::int64_t count, const std::vector<std::int32_t>& lengths) {
    const auto sequences = static_cast<std::int64_t>(lengths.size());
    a.q = rows_.view(q_.data() + first * heads * dimensions, {count, heads, dimensions});
    a.k_pages = rows_.any_view(keys_, dtype, {pages, key_heads, page_length, dimensions});
    a.v_pages = rows_.any_view(values_, dtype, {pages, key_heads, page_length, value_dimensions});
    a.block_table = rows_.view(table_.data(), {sequences, pages});
    a.lengths = rows_.view(lengths.data(), {sequences});
    a.scale = 0.125f;
    a.y = rows_.view(std::vector<float>(static_cast<std::size_t>(count * outputs)).data(),
                     {count, heads, value_dimensions});
  }

  std::vector<float> prefill(std::int64_t first, std::int64_t count) {
    Prefill::Arguments a;
    fill(a, first, count, {static_cast<std::int32_t>(length - tokens + first + count)});
    const std::int32_t begins[] = {0, static_cast<std::int32_t>(count)};
    a.run_begins = rows_.view(begins, {2});
    return rows_.run(prefill_cuda, a);
  }
  std::vector<float> decode(std::int64_t times = 1) {
    std::vector<std::int32_t> lengths;
    for (std::int64_t token = 0; token < times * tokens; ++token) {
      lengths.push_back(static_cast<std::int32_t>(length - tokens + 1 + token % tokens));
    }
    Decode::Arguments a;
    fill(a, 0, times * tokens, lengths);
    return rows_.run(decode_cuda, a);
  }

  std::vector<float> q_;
  std::vector<std::byte> keys_, values_;
  std::vector<std::int32_t> table_;
  EmulatedRows rows_;
};

TEST_P(AttendDeviceTest, ATokenOfARunHasTheBitsThatItHasAlone) { expect_same_bits(prefill(0, tokens), decode()); }

TEST_P(AttendDeviceTest, ATokenInACrowdHasTheBitsThatItHasAmongFew) {
  const std::vector<float> among_few = decode();
  std::vector<float> expected;
  for (std::int64_t i = 0; i < crowd; ++i) expected.insert(expected.end(), among_few.begin(), among_few.end());
  expect_same_bits(decode(crowd), expected);
}

TEST_P(AttendDeviceTest, HowAPromptWasCutDoesNotShow) {
  std::vector<float> pieces = prefill(0, 7);
  const std::vector<float> rest = prefill(7, tokens - 7);
  pieces.insert(pieces.end(), rest.begin(), rest.end());
  expect_same_bits(pieces, prefill(0, tokens));
}

// A row scores such a key by infinity, and is no number, or by minus infinity, and gives it no weight: then nothing but
// what meets the value is none.
TEST_P(AttendDeviceTest, AnInfiniteValueThatWeighsNothingMakesNoNumber) {
  spoil(40, dimensions, false, keys_);
  spoil(40, value_dimensions, true, values_);
  const bool is_in_one_block = dtype == DType::q8_0 && value_dimensions == 32;
  for (const std::vector<float>& y : {prefill(0, tokens), decode()}) {
    int weightless = 0;
    for (std::size_t row = 0; row < y.size(); row += static_cast<std::size_t>(value_dimensions)) {
      EXPECT_TRUE(std::isnan(y[row])) << "row " << row / static_cast<std::size_t>(value_dimensions) << ": " << y[row];
      if (std::isfinite(y[row + static_cast<std::size_t>(value_dimensions) - 1])) ++weightless;
    }
    EXPECT_EQ(weightless > 0, !is_in_one_block);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AttendDeviceTest,
                         testing::Values(Pages{DType::f32, 24, 14, 32, 64, "f32"},
                                         Pages{DType::f16, 24, 14, 32, 64, "f16"},
                                         Pages{DType::q8_0, 24, 14, 32, 64, "q8_0"},
                                         Pages{DType::f16, 64, 6, 64, 64, "f16_in_whole_units"},
                                         Pages{DType::q8_0, 64, 6, 64, 64, "q8_0_in_whole_units"},
                                         Pages{DType::f16, 64, 6, 128, 128, "f16_of_wide_heads_in_whole_units"},
                                         Pages{DType::q8_0, 64, 6, 128, 128, "q8_0_of_wide_heads_in_whole_units"}),
                         [](const auto& pages) { return std::string(pages.param.name); });

}  // namespace
}  // namespace ingot
