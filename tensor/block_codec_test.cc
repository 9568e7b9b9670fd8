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
#include "tensor/block_formats.h"

namespace ingot {
namespace {

std::vector<DType> block_dtypes() {
  std::vector<DType> dtypes;
  for (const DTypeInformation& row : dtype_table) {
    if (row.block_elements > 1) dtypes.push_back(row.dtype);
  }
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
    case DType::iq4_nl: return 0.085;
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
  for (DType dtype : block_dtypes()) {
    const double error = relative_error(values, decoded(dtype, encoded(dtype, values), values.size()));
    EXPECT_LT(error, error_bound(dtype)) << name_of(dtype);
    RecordProperty(std::string(name_of(dtype)), std::to_string(error));
  }
}

// Encoding what decoding gave must not drift: codes are at their own grid points.
TEST(BlockCodec, SecondRoundTripStaysWithinTheFirstError) {
  const std::vector<float> values = normal_values(256 * 16, 2);
  for (DType dtype : block_dtypes()) {
    const std::vector<float> once = decoded(dtype, encoded(dtype, values), values.size());
    const std::vector<float> twice = decoded(dtype, encoded(dtype, once), values.size());
    EXPECT_LT(relative_error(values, twice), 1.5 * error_bound(dtype)) << name_of(dtype);
  }
}

TEST(BlockCodec, ZerosStayZeros) {
  const std::vector<float> zeros(256, 0.0f);
  for (DType dtype : block_dtypes()) {
    for (float value : decoded(dtype, encoded(dtype, zeros), zeros.size())) EXPECT_EQ(value, 0) << name_of(dtype);
  }
}

TEST(BlockCodec, SizesFarFromOneKeepTheirRelativeError) {
  for (float factor : {0x1p-12f, 0x1p9f}) {
    std::vector<float> values = normal_values(256 * 8, 3);
    for (float& value : values) value *= factor;
    for (DType dtype : block_dtypes()) {
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
  for (DType dtype : block_dtypes()) {
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
