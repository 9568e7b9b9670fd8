// The same by byte dot products (VPDPBUSD): an unsigned byte of the weights times a signed byte of x, four of them into
// a 32-bit lane. Weights are made unsigned by an offset, whose share of the sum is known from x alone.
#include "kernels/linear/ways/interleaved/matmul_interleaved.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "hwy/cache_control.h"
#include "kernels/linear/instructions/avx512_intrinsics.h"
#include "kernels/linear/ways/floats/gemm.h"
#include "tensor/interleaved.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")

namespace ingot {
namespace {

#include "kernels/linear/ways/interleaved/matmul_interleaved-inl.h"

template <class Block>
constexpr int code_offset = std::is_same_v<Block, BlockQ4_0> ? 8 : 128;

HWY_INLINE __m256i quad(const CodedBlock& x, int index) {
  std::int32_t four;
  std::memcpy(&four, x.codes + 4 * index, sizeof(four));
  return _mm256_set1_epi32(four);
}

template <class Block, int rows>
struct Columns {
  static void run(const Matmul::Arguments& a, const CodedBlock* coded, std::int64_t first_row) {
    const std::int64_t blocks = a.x.size(1) / 32;
    const auto* weights = reinterpret_cast<const InterleavedBlocks<Block>*>(a.weights.data());
    for (std::int64_t braid = 0; braid < a.y.size(1) / interleaved_rows; ++braid) {
      __m256 totals[rows];
      for (int row = 0; row < rows; ++row) totals[row] = _mm256_setzero_ps();
      for (std::int64_t b = 0; b < blocks; ++b, ++weights) {
        prefetch(weights);
        add_blocks(*weights, coded + first_row * blocks + b, blocks, totals);
      }
      const float* bias = a.bias.data() == nullptr ? nullptr : a.bias.data() + braid * interleaved_rows;
      for (int row = 0; row < rows; ++row) {
        if (bias != nullptr) totals[row] = _mm256_add_ps(totals[row], _mm256_loadu_ps(bias));
        _mm256_storeu_ps(&a.y(first_row + row, braid * interleaved_rows), totals[row]);
      }
    }
  }

 private:
  // Two sums a row, so that the chain of dot products is half as long.
  static HWY_INLINE void add_blocks(const InterleavedBlocks<Block>& weights, const CodedBlock* x, std::int64_t blocks,
                                    __m256 (&totals)[rows]) {
    __m256i sums[rows][2];
    for (int row = 0; row < rows; ++row) {
      sums[row][0] = _mm256_set1_epi32(-code_offset<Block> * x[row * blocks].sum);
      sums[row][1] = _mm256_setzero_si256();
    }
    constexpr int quads = InterleavedBlocks<Block>::quads;
#pragma GCC unroll 8
    for (int i = 0; i < quads; ++i) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights.codes[i]));
      if constexpr (std::is_same_v<Block, BlockQ4_0>) {  // a byte holds elements j and j + 16
        const __m256i nibble = _mm256_set1_epi8(15);
        const __m256i low = _mm256_and_si256(bytes, nibble);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
        for (int row = 0; row < rows; ++row) {
          sums[row][0] = _mm256_dpbusd_epi32(sums[row][0], low, quad(x[row * blocks], i));
          sums[row][1] = _mm256_dpbusd_epi32(sums[row][1], high, quad(x[row * blocks], quads + i));
        }
      } else {
        const __m256i positive = _mm256_xor_si256(bytes, _mm256_set1_epi8(static_cast<char>(128)));
        for (int row = 0; row < rows; ++row) {
          sums[row][i % 2] = _mm256_dpbusd_epi32(sums[row][i % 2], positive, quad(x[row * blocks], i));
        }
      }
    }
    const __m256 scales = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights.scales)));
    for (int row = 0; row < rows; ++row) {
      // Not the product of both scales first: it may lie below the normal range where the sum does not.
      const __m256 sum = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_add_epi32(sums[row][0], sums[row][1])),
                                       _mm256_set1_ps(x[row * blocks].scale));
      totals[row] = _mm256_fmadd_ps(sum, scales, totals[row]);
    }
  }
};

void prepare(const Matmul::Arguments& a, Workers&, std::byte* prepared) {
  code_rows(a, encode_activation_block.widest(), reinterpret_cast<CodedBlock*>(prepared));
}

constexpr BraidProduct product = {keeps_bytes, coded_bytes, prepare, multiply_coded<Columns>};

}  // namespace

const BraidProduct* const interleaved_avx512_vnni = &product;

}  // namespace ingot

HWY_POP_ATTRIBUTES
