#include "kernels/device/matrix.h"

#include <cmath>

#include "kernels/device/emulated_run.h"

namespace ingot {
namespace {

// A is 16 x K, row by row; B is K x 8, column by column; C is 16 x 8, row by row.
template <class Element, class Sum>
struct Multiplied {
  const Element* a;
  const Element* b;
  Sum* c;
};
struct Loaded {
  const std::uint16_t* from;  // four matrices of 8 x 8
  std::uint32_t* to;          // 14 words a lane
};

}  // namespace

namespace device {

template <class Element, unsigned Depth, class Sums, class Multiply>
INGOT_ON_DEVICE void multiply_whole(const Element* a, const Element* b, auto* c, Multiply multiply) {
  constexpr unsigned elements = 4 / sizeof(Element);
  const unsigned group = lane_index() / 4;
  const unsigned first = lane_index() % 4 * elements;
  const auto word = [](const Element* from) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < elements; ++i) {
      std::uint32_t each;
      if constexpr (sizeof(Element) == 1)
        each = static_cast<std::uint8_t>(from[i]);
      else
        each = from[i].bits;
      bits |= each << i * 8 * sizeof(Element);
    }
    return bits;
  };
  const MatrixA fragment_a = {{word(a + group * Depth + first), word(a + (group + 8) * Depth + first),
                               word(a + group * Depth + first + Depth / 2),
                               word(a + (group + 8) * Depth + first + Depth / 2)}};
  const MatrixB fragment_b = {{word(b + group * Depth + first), word(b + group * Depth + first + Depth / 2)}};
  auto* upper = c + group * 8 + lane_index() % 4 * 2;
  auto* lower = upper + 64;
  Sums sums = {{upper[0], upper[1], lower[0], lower[1]}};
  multiply(sums, fragment_a, fragment_b);
  upper[0] = sums.values[0];
  upper[1] = sums.values[1];
  lower[0] = sums.values[2];
  lower[1] = sums.values[3];
}

using HalfProduct = Multiplied<Half, float>;
INGOT_DEVICE_FUNCTION(multiply_halves, HalfProduct, 32) {
  multiply_whole<Half, 16, FloatSums>(parameters.a, parameters.b, parameters.c, matrix_multiply_16x8x16<Half>);
}
using BFloat16Product = Multiplied<BFloat16, float>;
INGOT_DEVICE_FUNCTION(multiply_bfloat16s, BFloat16Product, 32) {
  multiply_whole<BFloat16, 16, FloatSums>(parameters.a, parameters.b, parameters.c, matrix_multiply_16x8x16<BFloat16>);
}
using ByteProduct = Multiplied<std::int8_t, std::int32_t>;
INGOT_DEVICE_FUNCTION(multiply_bytes, ByteProduct, 32) {
  multiply_whole<std::int8_t, 32, IntegerSums>(parameters.a, parameters.b, parameters.c, matrix_multiply_16x8x32);
}

INGOT_DEVICE_FUNCTION(load_all_matrices, Loaded, 32) {
  INGOT_SHARED std::uint16_t matrices[256];
  for (unsigned i = lane_index(); i < 256; i += 32) matrices[i] = parameters.from[i];
  synchronize_warp();
  const std::uint16_t* row = matrices + lane_index() * 8;
  const auto keep = [&](unsigned first, const auto& loaded) {
    for (unsigned i = 0; i < sizeof loaded.words / 4; ++i)
      parameters.to[lane_index() * 14 + first + i] = loaded.words[i];
  };
  keep(0, load_matrices<1>(row));
  keep(1, load_matrices<2>(row));
  keep(3, load_matrices<4>(row));
  matrices[lane_index()] = matrices[lane_index()];
  keep(7, load_matrices_transposed<1>(row));
  keep(8, load_matrices_transposed<2>(row));
  keep(10, load_matrices_transposed<4>(row));
  for (unsigned i = 0; i < 8; ++i) matrices[lane_index() * 8 + i] = 0;  // too late to be seen by any lane
}

INGOT_DEVICE_FUNCTION(load_askew, Loaded, 32) {
  INGOT_SHARED std::uint16_t matrices[256];
  parameters.to[0] = load_matrices<4>(matrices + lane_index() * 4).words[0];
}

}  // namespace device

namespace {

using Matrix = EmulatedRun;

template <class Element, class Sum>
void check_product(unsigned depth, const std::vector<Element>& a, const std::vector<Element>& b,
                   const std::vector<Sum>& before, const std::vector<Sum>& after) {
  const auto number = [](Element element) {
    if constexpr (sizeof(Element) == 1)
      return static_cast<double>(element);
    else
      return static_cast<double>(static_cast<float>(element));
  };
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      double sum = before[row * 8 + column];
      for (unsigned k = 0; k < depth; ++k) sum += number(a[row * depth + k]) * number(b[column * depth + k]);
      ASSERT_EQ(after[row * 8 + column], static_cast<Sum>(sum)) << row << ' ' << column;
    }
  }
}

template <class Element>
void multiply_floats(const DeviceFunction& function, const auto& run) {
  std::vector<Element> a(256);
  std::vector<Element> b(128);
  std::vector<float> c(128);
  for (std::size_t i = 0; i < 256; ++i) a[i] = Element(std::sin(static_cast<float>(i)) * 3);
  for (std::size_t i = 0; i < 128; ++i) b[i] = Element(std::cos(static_cast<float>(i * i)));
  for (std::size_t i = 0; i < 128; ++i) c[i] = static_cast<float>(i) - 60;
  const std::vector<float> before = c;
  run(function, c, Multiplied<Element, float>{a.data(), b.data(), c.data()});
  check_product(16, a, b, before, c);
}

TEST_F(Matrix, ProductsOf16BitNumbersAreWhatThePlainProductIs) {
  const auto runs = [&](const DeviceFunction& function, std::vector<float>& c, const auto& parameters) {
    run(function, {.threads = 32}, c, parameters);
  };
  multiply_floats<Half>(INGOT_TESTED(multiply_halves), runs);
  multiply_floats<BFloat16>(INGOT_TESTED(multiply_bfloat16s), runs);
}

TEST_F(Matrix, ProductsOfBytesAreExactAtTheirExtremes) {
  for (const int extreme : {0, -128, 127}) {
    std::vector<std::int8_t> a(512);
    std::vector<std::int8_t> b(256);
    std::vector<std::int32_t> c(128);
    for (std::size_t i = 0; i < 512; ++i) a[i] = static_cast<std::int8_t>(extreme != 0 ? extreme : i * 37 % 256);
    for (std::size_t i = 0; i < 256; ++i) b[i] = static_cast<std::int8_t>(extreme != 0 ? -128 : i * 101 % 256);
    for (std::size_t i = 0; i < 128; ++i) c[i] = static_cast<std::int32_t>(i * 1000003);
    const std::vector<std::int32_t> before = c;
    run(INGOT_TESTED(multiply_bytes), {.threads = 32}, c,
        Multiplied<std::int8_t, std::int32_t>{a.data(), b.data(), c.data()});
    check_product(32, a, b, before, c);
  }
}

TEST_F(Matrix, LoadsGiveEveryLaneItsElements) {
  std::vector<std::uint16_t> from(256);
  for (std::size_t i = 0; i < 256; ++i) from[i] = static_cast<std::uint16_t>(i * 257 + 3);
  std::vector<std::uint32_t> to(std::size_t{32} * 14);
  run(INGOT_TESTED(load_all_matrices), {.threads = 32}, to, Loaded{from.data(), to.data()});
  const auto element = [&](std::size_t matrix, std::size_t row, std::size_t column) {
    return std::uint32_t{from[matrix * 64 + row * 8 + column]};
  };
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t g = lane / 4;
    const std::size_t t = lane % 4;
    const std::uint32_t* found = &to[lane * 14];
    std::size_t place = 0;
    for (std::size_t count : {1, 2, 4}) {
      for (std::size_t matrix = 0; matrix < count; ++matrix) {
        ASSERT_EQ(found[place], element(matrix, g, 2 * t) | element(matrix, g, 2 * t + 1) << 16);
        ASSERT_EQ(found[place + 7], element(matrix, 2 * t, g) | element(matrix, 2 * t + 1, g) << 16);
        ++place;
      }
    }
  }
}

TEST_F(Matrix, RowsThatAreNotAlignedAreNamed) {
  std::vector<std::uint32_t> to(1);
  const std::string text = failure(INGOT_TESTED(load_askew), {.threads = 32}, Loaded{nullptr, to.data()});
  EXPECT_NE(text.find("thread 1: expected rows of matrices at multiples of 16 bytes"), std::string::npos) << text;
}

}  // namespace
}  // namespace ingot
