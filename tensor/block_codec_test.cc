#include "tensor/block_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <vector>

#include "tensor/block_codes.h"
#include "tensor/generic_formats.h"

namespace ingot {
namespace {

std::vector<DType> block_dtypes() {
  std::vector<DType> dtypes;
  for (const DTypeInformation& row : dtype_table) {
    if (row.block_elements > 1) dtypes.push_back(row.dtype);
  }
  return dtypes;
}

// Those that numbers can be encoded to.
std::vector<DType> encoded_dtypes() {
  std::vector<DType> dtypes = block_dtypes();
  std::erase_if(dtypes, [](DType dtype) { return !has_encoder(dtype); });
  return dtypes;
}

std::size_t bytes_for(DType dtype, std::size_t count) {
  return count / static_cast<std::size_t>(block_elements(dtype)) * static_cast<std::size_t>(block_bytes(dtype));
}

std::vector<std::byte> encoded(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> blocks(bytes_for(dtype, values.size()));
  encode_row(dtype, values.data(), blocks.data(), static_cast<std::int64_t>(values.size()));
  return blocks;
}

std::vector<float> decoded(DType dtype, const std::vector<std::byte>& blocks, std::size_t count) {
  std::vector<float> values(count);
  decode_row(dtype, blocks.data(), values.data(), static_cast<std::int64_t>(count));
  return values;
}

std::vector<float> normal_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// Root mean square of the difference over that of the values.
double relative_error(const std::vector<float>& values, const std::vector<float>& found) {
  double difference = 0;
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    difference += (double{values[i]} - found[i]) * (double{values[i]} - found[i]);
    total += double{values[i]} * values[i];
  }
  return std::sqrt(difference / total);
}

// About what a format of its width can do on normally distributed numbers.
double error_bound(DType dtype) {
  switch (dtype) {
    case DType::q4_0: return 0.10;
    case DType::q4_1: return 0.09;
    case DType::q5_0: return 0.05;
    case DType::q5_1: return 0.045;
    case DType::q8_0: return 0.007;
    case DType::q2_k: return 0.32;
    case DType::q3_k: return 0.18;
    case DType::q4_k: return 0.08;
    case DType::q5_k: return 0.042;
    case DType::q6_k: return 0.025;
    case DType::iq4_nl:
    case DType::iq4_xs: return 0.085;
    // Three values, the outer ones where the largest of 256 numbers are.
    case DType::tq1_0:
    case DType::tq2_0: return 0.9;
    default: return 0.13;  // mxfp4
  }
}

TEST(BlockCodec, DecodesHandMadeQ4_0) {
  std::vector<std::byte> block(18);
  block[1] = std::byte{0x40};  // 2.0 as a half
  block[2] = std::byte{0x9f};  // element 0: 15, element 16: 9
  const std::vector<float> values = decoded(DType::q4_0, block, 32);
  EXPECT_EQ(values[0], 14);
  EXPECT_EQ(values[16], 2);
  EXPECT_EQ(values[1], -16);
}

TEST(BlockCodec, DecodesHandMadeQ5_1) {
  BlockQ5_1 block = {};
  block.scale.set(0.5f);
  block.base.set(-3);
  block.low[3] = 0x21;
  block.high[0] = 1 << 3;
  block.high[2] = 1 << 3;
  std::vector<std::byte> bytes(sizeof(block));
  std::memcpy(bytes.data(), &block, sizeof(block));
  const std::vector<float> values = decoded(DType::q5_1, bytes, 32);
  EXPECT_EQ(values[3], 0.5f * 17 - 3);
  EXPECT_EQ(values[19], 0.5f * 18 - 3);
  EXPECT_EQ(values[0], -3);
}

TEST(BlockCodec, DecodesHandMadeMxfp4) {
  std::vector<std::byte> block(17);
  block[0] = std::byte{128};   // 2^1
  block[1] = std::byte{0x7f};  // element 0: -6, element 16: 6
  const std::vector<float> values = decoded(DType::mxfp4, block, 32);
  EXPECT_EQ(values[0], -12);
  EXPECT_EQ(values[16], 12);
  EXPECT_EQ(values[1], 0);
}

TEST(BlockCodec, KScalesUnpackAllSixBits) {
  std::uint8_t packed[12] = {};
  packed[1] = 0xc0 | 33;  // group 1's scale, and the upper bits of group 5's
  packed[9] = 0x5a;       // low bits of group 5: scale 10, minimum 5
  packed[5] = 0x80 | 7;   // group 1's minimum, and the upper bits of group 5's
  EXPECT_EQ(k_scale(packed, 1), 33);
  EXPECT_EQ(k_minimum(packed, 1), 7);
  EXPECT_EQ(k_scale(packed, 5), 0x3a);
  EXPECT_EQ(k_minimum(packed, 5), 0x25);
}

TEST(BlockCodec, DecodesHandMadeIq4Xs) {
  BlockIQ4_XS block = {};
  block.scale.set(0.5f);
  block.scales_low[2] = 0x50;   // group 5: 5 and
  block.scales_high[1] = 0x0c;  // 3 sixteens, less 32
  block.low[16 * 5 + 3] = 0xf0;
  std::vector<std::byte> bytes(sizeof(block));
  std::memcpy(bytes.data(), &block, sizeof(block));
  const std::vector<float> values = decoded(DType::iq4_xs, bytes, 256);
  EXPECT_EQ(values[32 * 5 + 3], 0.5f * (53 - 32) * -127);
  EXPECT_EQ(values[32 * 5 + 19], 0.5f * (53 - 32) * 113);
  EXPECT_EQ(values[0], 0.5f * -32 * -127);
}

TEST(BlockCodec, E4M3ScalesAreHalved) {
  EXPECT_EQ(e4m3_scale(0), 0);
  EXPECT_EQ(e4m3_scale(1), 0x1p-10f);
  EXPECT_EQ(e4m3_scale(7 << 3), 0.5f);
  EXPECT_EQ(e4m3_scale(0x7e), 224);
  EXPECT_EQ(e4m3_scale(0x7f), 0);
}

// 1024 blocks of arbitrary bytes under a scale of 0.71, which meet every point of every grid.
std::vector<std::byte> arbitrary_blocks(DType dtype) {
  constexpr std::size_t count = 1024;
  const auto size = static_cast<std::size_t>(block_bytes(dtype));
  std::vector<std::byte> blocks(count * size);
  std::uint32_t state = 0x9e3779b9u ^ static_cast<std::uint32_t>(size);
  for (std::byte& byte : blocks) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    byte = static_cast<std::byte>(state >> 24);
  }
  StoredHalf scale;
  scale.set(0.71f);
  for (std::size_t at = 0; at < blocks.size(); at += size) {
    auto* block = reinterpret_cast<std::uint8_t*>(blocks.data() + at);
    if (dtype == DType::iq1_m) {
      for (int i = 0; i < 4; ++i) {
        std::uint8_t& high = reinterpret_cast<BlockIQ1_M*>(block)->scales[i][1];
        high = static_cast<std::uint8_t>((high & 15) | (scale.bits() >> 4 * i & 15) << 4);
      }
    } else if (dtype == DType::tq1_0 || dtype == DType::tq2_0) {
      std::memcpy(block + size - sizeof(scale), scale.bytes, sizeof(scale));
    } else if (dtype != DType::mxfp4 && dtype != DType::nvfp4) {
      std::memcpy(block, scale.bytes, sizeof(scale));
    }
  }
  return blocks;
}

// FNV-1a, a word or a byte at a time.
template <class Word>
std::uint64_t digest(const Word* words, std::size_t count) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < count; ++i) digest = (digest ^ static_cast<std::uint64_t>(words[i])) * 0x100000001b3u;
  return digest;
}

struct Recorded {
  DType dtype;
  std::uint64_t digest;
};

// What the Python package gguf 0.19 decodes the same blocks to.
TEST(BlockCodec, DecodesArbitraryBlocksToTheBitsOfOthers) {
  constexpr Recorded table[] = {
      {DType::iq4_nl, 0xecc445a02c11daa5u}, {DType::mxfp4, 0x64eb5bf5af4c2325u},   {DType::iq4_xs, 0xf56850f80b6bfd3du},
      {DType::iq3_s, 0xd81c88c4e92044c5u},  {DType::iq3_xxs, 0x1a9fe223b86883b5u}, {DType::iq2_s, 0x77ea23a63e474f95u},
      {DType::iq2_xs, 0x21d94d80675d6c65u}, {DType::iq2_xxs, 0xa799f01789857e55u}, {DType::iq1_m, 0x564dfb99e999f325u},
      {DType::iq1_s, 0xf412a354434a6ca5u},  {DType::tq2_0, 0xa44f1a57a5eca325u},   {DType::tq1_0, 0x07d9c65a9c1d6325u},
      {DType::nvfp4, 0xa73cc6ddbfa62325u}};
  for (const Recorded& row : table) {
    const std::vector<std::byte> blocks = arbitrary_blocks(row.dtype);
    const std::vector<float> values =
        decoded(row.dtype, blocks, 1024 * static_cast<std::size_t>(block_elements(row.dtype)));
    std::vector<std::uint32_t> bits(values.size());
    std::memcpy(bits.data(), values.data(), 4 * values.size());
    EXPECT_EQ(digest(bits.data(), bits.size()), row.digest) << name_of(row.dtype);
  }
}

// And what it encodes to.
TEST(BlockCodec, EncodesTernaryBlocksToTheBytesOfOthers) {
  std::vector<float> values(256);
  for (int i = 0; i < 256; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i * 7919 % 513 - 256) / 64;
  constexpr Recorded table[] = {{DType::tq1_0, 0x0d7b4fb06cee097eu}, {DType::tq2_0, 0x759c5d826bb34db0u}};
  for (const Recorded& row : table) {
    const std::vector<std::byte> blocks = encoded(row.dtype, values);
    EXPECT_EQ(digest(blocks.data(), blocks.size()), row.digest) << name_of(row.dtype);
  }
}

TEST(BlockCodec, EncodesExtremesExactly) {
  std::vector<float> values(32, 0.0f);
  values[5] = -4;
  values[9] = 2;
  for (DType dtype : {DType::q4_0, DType::q5_0}) {
    const std::vector<float> found = decoded(dtype, encoded(dtype, values), 32);
    EXPECT_EQ(found[5], -4) << name_of(dtype);
    EXPECT_EQ(found[9], 2) << name_of(dtype);
    EXPECT_EQ(found[0], 0) << name_of(dtype);
  }
}

TEST(BlockCodec, RoundTripErrorIsBounded) {
  const std::vector<float> values = normal_values(256 * 64, 1);
  for (DType dtype : encoded_dtypes()) {
    const double error = relative_error(values, decoded(dtype, encoded(dtype, values), values.size()));
    EXPECT_LT(error, error_bound(dtype)) << name_of(dtype);
    RecordProperty(std::string(name_of(dtype)), std::to_string(error));
  }
}

// Encoding what decoding gave must not drift: codes are at their own grid points.
TEST(BlockCodec, SecondRoundTripStaysWithinTheFirstError) {
  const std::vector<float> values = normal_values(256 * 16, 2);
  for (DType dtype : encoded_dtypes()) {
    const std::vector<float> once = decoded(dtype, encoded(dtype, values), values.size());
    const std::vector<float> twice = decoded(dtype, encoded(dtype, once), values.size());
    EXPECT_LT(relative_error(values, twice), 1.5 * error_bound(dtype)) << name_of(dtype);
  }
}

TEST(BlockCodec, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  for (DType dtype : encoded_dtypes()) {
    for (float value : decoded(dtype, encoded(dtype, zeros), zeros.size())) EXPECT_EQ(value, 0) << name_of(dtype);
  }
}

TEST(BlockCodec, SizesFarFromOneKeepTheirRelativeError) {
  for (float factor : {0x1p-12f, 0x1p9f}) {
    std::vector<float> values = normal_values(256 * 8, 3);
    for (float& value : values) value *= factor;
    for (DType dtype : encoded_dtypes()) {
      const double error = relative_error(values, decoded(dtype, encoded(dtype, values), values.size()));
      EXPECT_LT(error, 1.1 * error_bound(dtype)) << name_of(dtype) << " times " << factor;
    }
  }
}

// Sanitizers watch this one: whatever comes in, the bytes that come out are a block.
TEST(BlockCodec, SpecialValuesAreHarmless) {
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF,    -HUGE_VALF, 0x1p-149f,
                            std::numeric_limits<float>::max(),       1e-40f,       -0.0f,      0x1p-126f,
                            -std::numeric_limits<float>::max(),      5 * 0x1p-149f};
  for (DType dtype : encoded_dtypes()) {
    for (float special : specials) {
      for (std::size_t period : {1u, 7u, 300u}) {
        std::vector<float> values = normal_values(256, 4);
        if (std::fabs(special) < 1e-30f) values.assign(256, 0.0f);
        for (std::size_t i = 0; i < values.size(); i += period) values[i] = special;
        decoded(dtype, encoded(dtype, values), values.size());
      }
    }
  }
}

TEST(BlockCodec, EveryBytePatternDecodes) {
  std::mt19937 generator(5);
  for (DType dtype : block_dtypes()) {
    std::vector<std::byte> block(static_cast<std::size_t>(block_bytes(dtype)));
    for (int round = 0; round < 2000; ++round) {
      for (std::byte& byte : block) {
        byte = round < 256 ? static_cast<std::byte>(round) : static_cast<std::byte>(generator());
      }
      decoded(dtype, block, static_cast<std::size_t>(block_elements(dtype)));
    }
  }
}

TEST(BlockCodec, PlainFloatTypesRoundToNearestEven) {
  const std::vector<float> values = {1.0f, 1.0f + 0x1p-8f, 1.0f + 3 * 0x1p-8f, -65504.0f, 1e-8f};
  const std::vector<float> brain = decoded(DType::bf16, encoded(DType::bf16, values), values.size());
  EXPECT_EQ(brain[1], 1.0f);
  EXPECT_EQ(brain[2], 1.0f + 0x1p-6f);
  const std::vector<float> half = decoded(DType::f16, encoded(DType::f16, values), values.size());
  EXPECT_EQ(half[3], -65504.0f);
  EXPECT_EQ(half[4], 0.0f);
}

template <class Element>
std::vector<Element> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::vector<Element> elements(bytes.size() / sizeof(Element));
  std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(Element));
  return elements;
}

// Blocks made elsewhere: what they decode to, and for the formats whose rounding is fixed, what they are made of.
TEST(BlockCodec, AgreesWithOutsideData) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  if (root == nullptr) GTEST_SKIP() << "INGOT_OUTSIDE_DATA names no folder";
  const std::filesystem::path folder = std::filesystem::path(root) / "gguf-quant";
  const std::vector<float> input = read_file<float>(folder / "input.f32");
  ASSERT_FALSE(input.empty()) << "expected input.f32 in " << folder;
  int decoded_formats = 0;
  int encoded_formats = 0;
  for (const DTypeInformation& row : dtype_table) {
    std::string name(row.name);
    for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
    if (!std::filesystem::exists(folder / (name + ".blk"))) continue;
    const auto blocks = read_file<std::byte>(folder / (name + ".blk"));
    const auto expected = read_file<float>(folder / (name + ".f32"));
    ASSERT_EQ(blocks.size(), bytes_for(row.dtype, expected.size())) << name;
    const std::vector<float> found = decoded(row.dtype, blocks, expected.size());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), 4 * expected.size()), 0) << name << " decodes to other bits";
    ++decoded_formats;
    const std::vector<std::byte> own = encoded(row.dtype, input);
    switch (row.dtype) {
      case DType::q4_0:
      case DType::q4_1:
      case DType::q5_0:
      case DType::q8_0:
      case DType::bf16:
        EXPECT_TRUE(own == blocks) << name << " encodes to other bytes";
        ++encoded_formats;
        break;
      default:
        // The search must not be worse than the one that made the data.
        EXPECT_LE(relative_error(input, decoded(row.dtype, own, input.size())), 1.02 * relative_error(input, expected))
            << name;
        RecordProperty(name + "_own_error",
                       std::to_string(relative_error(input, decoded(row.dtype, own, input.size()))));
        RecordProperty(name + "_outside_error", std::to_string(relative_error(input, expected)));
    }
  }
  std::cout << "outside data: " << decoded_formats << " formats decode to the same bits, " << encoded_formats
            << " encode to the same bytes\n";
  EXPECT_GT(decoded_formats, 0);
}

}  // namespace
}  // namespace ingot
