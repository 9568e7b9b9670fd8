// Products of small matrices by a whole warp (mma.sync of compute capability 8.0), and the loads that feed them.
//
// What a lane holds, with g = lane / 4 and t = lane % 4 (the PTX manual's fragments of m16n8k16 and m16n8k32):
//
//   16-bit factors               first word        A: row g, and g + 8 in words 1 and 3; columns 2t, 2t + 1, and 8
//   further
//                                                     in words 2 and 3. B: column g, rows 2t, 2t + 1, and 8 further in
//                                                     word 1
//   8-bit factors                the same with columns 4t to 4t + 3 of A and rows of B, and 16 further
//   sums                         values 0, 1: row g, columns 2t and 2t + 1; values 2, 3: row g + 8
//
// Integer sums are exact. Sums of floats are not the same everywhere: in what order and with how many bits a device
// adds is written nowhere. It adds few more bits than a float has and cuts off; the emulated one adds in double,
// columns of A ascending, and rounds once. Contracts allow for either. Where all products and sums are whole numbers
// below 2^24 both are exact.
#pragma once

#include "kernels/device/numbers.h"

#if !defined(__CUDACC__)
#include <cstring>
#endif

namespace ingot::device {

struct MatrixA {
  std::uint32_t words[4];
};
struct MatrixB {
  std::uint32_t words[2];
};
struct FloatSums {
  float values[4];
};
struct IntegerSums {
  std::int32_t values[4];
};

template <unsigned Count>
struct MatrixWords {
  std::uint32_t words[Count];
};

#if defined(__CUDACC__)

// sums + A B, of Half or BFloat16.
template <class Element>
INGOT_ON_DEVICE void matrix_multiply_16x8x16(FloatSums& sums, const MatrixA& a, const MatrixB& b);

template <>
INGOT_ON_DEVICE void matrix_multiply_16x8x16<Half>(FloatSums& sums, const MatrixA& a, const MatrixB& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums.values[0]), "+f"(sums.values[1]), "+f"(sums.values[2]), "+f"(sums.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}
template <>
INGOT_ON_DEVICE void matrix_multiply_16x8x16<BFloat16>(FloatSums& sums, const MatrixA& a, const MatrixB& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums.values[0]), "+f"(sums.values[1]), "+f"(sums.values[2]), "+f"(sums.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}
// sums + A B, of 8-bit integers with a sign.
INGOT_ON_DEVICE void matrix_multiply_16x8x32(IntegerSums& sums, const MatrixA& a, const MatrixB& b) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+r"(sums.values[0]), "+r"(sums.values[1]), "+r"(sums.values[2]), "+r"(sums.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}

INGOT_ON_DEVICE unsigned address_of_row(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// 1, 2 or 4 matrices of 8 x 8 elements of 16 bits from shared memory: lane i names row i % 8 (16 bytes) of matrix i /
// 8, and gets elements 2t and 2t + 1 of each one's row g. Lanes beyond the last matrix name any row there is.
template <unsigned Count>
INGOT_ON_DEVICE MatrixWords<Count> load_matrices(const void* row);
template <>
INGOT_ON_DEVICE MatrixWords<1> load_matrices<1>(const void* row) {
  MatrixWords<1> result;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(result.words[0])
               : "r"(address_of_row(row))
               : "memory");
  return result;
}
template <>
INGOT_ON_DEVICE MatrixWords<2> load_matrices<2>(const void* row) {
  MatrixWords<2> result;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(result.words[0]), "=r"(result.words[1])
               : "r"(address_of_row(row))
               : "memory");
  return result;
}
template <>
INGOT_ON_DEVICE MatrixWords<4> load_matrices<4>(const void* row) {
  MatrixWords<4> result;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(result.words[0]), "=r"(result.words[1]), "=r"(result.words[2]), "=r"(result.words[3])
               : "r"(address_of_row(row))
               : "memory");
  return result;
}
// The same, but elements g of rows 2t and 2t + 1.
template <unsigned Count>
INGOT_ON_DEVICE MatrixWords<Count> load_matrices_transposed(const void* row);
template <>
INGOT_ON_DEVICE MatrixWords<1> load_matrices_transposed<1>(const void* row) {
  MatrixWords<1> result;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(result.words[0])
               : "r"(address_of_row(row))
               : "memory");
  return result;
}
template <>
INGOT_ON_DEVICE MatrixWords<2> load_matrices_transposed<2>(const void* row) {
  MatrixWords<2> result;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(result.words[0]), "=r"(result.words[1])
               : "r"(address_of_row(row))
               : "memory");
  return result;
}
template <>
INGOT_ON_DEVICE MatrixWords<4> load_matrices_transposed<4>(const void* row) {
  MatrixWords<4> result;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(result.words[0]), "=r"(result.words[1]), "=r"(result.words[2]), "=r"(result.words[3])
               : "r"(address_of_row(row))
               : "memory");
  return result;
}

#else

namespace matrix {

// What a lane brings to a product. The sums it takes back lie in the place of those it brought.
struct Product {
  MatrixA a;
  MatrixB b;
  std::uint32_t sums[4];
};
static_assert(sizeof(Product) <= sizeof(emulated::LaneSlot));

// Both factors of a product of `Depth`, gathered from all lanes; Elements lie in a word.
template <class Element, unsigned Depth>
struct Factors {
  static constexpr unsigned elements = 4 / sizeof(Element);
  Element a[16][Depth];
  Element b[8][Depth];

  explicit Factors(const emulated::LaneSlot* lanes) {
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      Product product;
      std::memcpy(&product, lanes + lane, sizeof product);
      const unsigned group = lane / 4;
      const unsigned first = lane % 4 * elements;
      for (unsigned word = 0; word < 4; ++word) {
        std::memcpy(static_cast<void*>(&a[group + word % 2 * 8][first + word / 2 * Depth / 2]), &product.a.words[word],
                    4);
      }
      for (unsigned word = 0; word < 2; ++word) {
        std::memcpy(static_cast<void*>(&b[group][first + word * Depth / 2]), &product.b.words[word], 4);
      }
    }
  }
};

// Each lane's four sums: dot(row of A, column of B, the sum so far).
template <class Value, class Dot>
INGOT_ON_DEVICE void add_products(emulated::LaneSlot* lanes, Dot dot) {
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    std::byte* sums = lanes[lane].bytes + offsetof(Product, sums);
    for (unsigned i = 0; i < 4; ++i) {
      Value sum;
      std::memcpy(&sum, sums + i * sizeof sum, sizeof sum);
      sum = dot(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2, sum);
      std::memcpy(sums + i * sizeof sum, &sum, sizeof sum);
    }
  }
}

template <class Element>
void join_16x8x16(emulated::LaneSlot* lanes) {
  const Factors<Element, 16> factors(lanes);
  float a[16][16];
  float b[8][16];
  for (unsigned i = 0; i < 256; ++i) a[i / 16][i % 16] = to_float(factors.a[i / 16][i % 16]);
  for (unsigned i = 0; i < 128; ++i) b[i / 16][i % 16] = to_float(factors.b[i / 16][i % 16]);
  add_products<float>(lanes, [&](unsigned row, unsigned column, float before) {
    double sum = before;
    for (unsigned k = 0; k < 16; ++k) sum += double{a[row][k]} * double{b[column][k]};
    return static_cast<float>(sum);
  });
}

inline void join_16x8x32(emulated::LaneSlot* lanes) {
  const Factors<std::int8_t, 32> factors(lanes);
  add_products<std::uint32_t>(lanes, [&](unsigned row, unsigned column, std::uint32_t sum) {
    for (unsigned k = 0; k < 32; ++k) {
      sum += static_cast<std::uint32_t>(std::int32_t{factors.a[row][k]} * std::int32_t{factors.b[column][k]});
    }
    return sum;
  });
}

template <class Sums>
INGOT_ON_DEVICE void multiply(Sums& sums, const MatrixA& a, const MatrixB& b, emulated::JoinLanes join) {
  Product product = {a, b, {}};
  static_assert(sizeof product.sums == sizeof sums.values);
  std::memcpy(product.sums, sums.values, sizeof sums.values);
  std::memcpy(emulated::own_lane_slot(), &product, sizeof product);
  const emulated::LaneSlot* lanes = emulated::meet_warp(emulated::Meeting::matrix_product, join);
  std::memcpy(sums.values, lanes[lane_index()].bytes + offsetof(Product, sums), sizeof sums.values);
}

// A lane brings the address of a row; the last to come reads the rows of all, before any lane can write there again.
template <unsigned Count>
void join_rows(emulated::LaneSlot* lanes) {
  for (unsigned lane = 0; lane < Count * 8; ++lane) {
    std::uintptr_t row;
    std::memcpy(&row, lanes + lane, sizeof row);
    std::memcpy(lanes + lane, reinterpret_cast<const void*>(row), 16);
  }
}
template <unsigned Count>
INGOT_ON_DEVICE const emulated::LaneSlot* gather_rows(const void* row) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  const auto address = reinterpret_cast<std::uintptr_t>(row);
  if (lane_index() < Count * 8 && address % 16 != 0) {
    emulated::fail("expected rows of matrices at multiples of 16 bytes, found one that is further by", address % 16);
  }
  std::memcpy(emulated::own_lane_slot(), &address, sizeof address);
  return emulated::meet_warp(emulated::Meeting::matrix_load, join_rows<Count>);
}
INGOT_ON_DEVICE std::uint32_t element(const emulated::LaneSlot& row, unsigned index) {
  std::uint16_t bits;
  std::memcpy(&bits, row.bytes + index * sizeof bits, sizeof bits);
  return bits;
}

}  // namespace matrix

template <class Element>
INGOT_ON_DEVICE void matrix_multiply_16x8x16(FloatSums& sums, const MatrixA& a, const MatrixB& b) {
  matrix::multiply(sums, a, b, matrix::join_16x8x16<Element>);
}
INGOT_ON_DEVICE void matrix_multiply_16x8x32(IntegerSums& sums, const MatrixA& a, const MatrixB& b) {
  matrix::multiply(sums, a, b, matrix::join_16x8x32);
}

template <unsigned Count>
INGOT_ON_DEVICE MatrixWords<Count> load_matrices(const void* row) {
  const emulated::LaneSlot* rows = matrix::gather_rows<Count>(row);
  MatrixWords<Count> result;
  for (unsigned i = 0; i < Count; ++i) {
    std::memcpy(&result.words[i], rows[i * 8 + lane_index() / 4].bytes + lane_index() % 4 * 4, 4);
  }
  return result;
}
template <unsigned Count>
INGOT_ON_DEVICE MatrixWords<Count> load_matrices_transposed(const void* row) {
  const emulated::LaneSlot* rows = matrix::gather_rows<Count>(row);
  MatrixWords<Count> result;
  for (unsigned i = 0; i < Count; ++i) {
    const emulated::LaneSlot* pair = rows + i * 8 + lane_index() % 4 * 2;
    result.words[i] = matrix::element(pair[0], lane_index() / 4) | matrix::element(pair[1], lane_index() / 4) << 16;
  }
  return result;
}

#endif

}  // namespace ingot::device
