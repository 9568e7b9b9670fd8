// Register-only peak loops for x86_64. Twelve independent chains: two multiply-add ports times a latency of four or
// five cycles need ten results in flight, ten exactly leave the scheduler no slack (measured: 87 % of the rate), and
// twelve accumulators with their operands still fit sixteen registers.
#if defined(__x86_64__)

#include <immintrin.h>

#include "machine/peak_loops.h"

namespace ingot {
namespace {

constexpr double chains = 12;
constexpr double two = 2;  // a multiply and an add

// x * 0.5 + 0.5 settles at 1: no overflow, and no denormal that would slow the loop down.
constexpr float half = 0.5f;

// The chains spelled out, because neither compiler keeps an array of vectors in registers at every optimization level.
#define INGOT_CHAINS(type, start)                                                                                  \
  type a0 = start, a1 = start, a2 = start, a3 = start, a4 = start, a5 = start, a6 = start, a7 = start, a8 = start, \
       a9 = start, a10 = start, a11 = start
#define INGOT_EACH_CHAIN(step) \
  step(a0) step(a1) step(a2) step(a3) step(a4) step(a5) step(a6) step(a7) step(a8) step(a9) step(a10) step(a11)
// Makes the compiler forget a value: else chains that start alike are merged into one, and the product of two
// unchanging operands is hoisted out of the loop.
#define INGOT_FORGET(value) __asm__ volatile("" : "+x"(value));

__attribute__((target("avx512f"))) double fma_avx512(std::int64_t rounds) {
  __m512 x = _mm512_set1_ps(half);
  INGOT_CHAINS(__m512, x);
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = _mm512_fmadd_ps(a, x, x);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m512 total = _mm512_setzero_ps();
#define INGOT_STEP(a) total = _mm512_add_ps(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm512_cvtss_f32(total);
}

__attribute__((target("avx2,fma"))) double fma_avx2(std::int64_t rounds) {
  __m256 x = _mm256_set1_ps(half);
  INGOT_CHAINS(__m256, x);
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = _mm256_fmadd_ps(a, x, x);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m256 total = _mm256_setzero_ps();
#define INGOT_STEP(a) total = _mm256_add_ps(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm256_cvtss_f32(total);
}

// The baseline has no fused multiply-add: two instructions do what one does above.
double multiply_add_sse2(std::int64_t rounds) {
  __m128 x = _mm_set1_ps(half);
  INGOT_CHAINS(__m128, x);
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = _mm_add_ps(_mm_mul_ps(a, x), x);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m128 total = _mm_setzero_ps();
#define INGOT_STEP(a) total = _mm_add_ps(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm_cvtss_f32(total);
}

__attribute__((target("avx512f,avx512vnni"))) double dot_avx512_vnni(std::int64_t rounds) {
  __m512i x = _mm512_set1_epi8(1);
  INGOT_CHAINS(__m512i, _mm512_setzero_si512());
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = _mm512_dpbusd_epi32(a, x, x);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m512i total = _mm512_setzero_si512();
#define INGOT_STEP(a) total = _mm512_add_epi32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm512_cvtsi512_si32(total);
}

__attribute__((target("avx512f,avx512bw"))) double dot_avx512(std::int64_t rounds) {
  __m512i x = _mm512_set1_epi8(1), ones = _mm512_set1_epi16(1);
  INGOT_CHAINS(__m512i, _mm512_setzero_si512());
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) \
  INGOT_FORGET(x)     \
  a = _mm512_add_epi32(a, _mm512_madd_epi16(_mm512_maddubs_epi16(x, x), ones));
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m512i total = _mm512_setzero_si512();
#define INGOT_STEP(a) total = _mm512_add_epi32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm512_cvtsi512_si32(total);
}

__attribute__((target("avx2,avxvnni"))) double dot_avx_vnni(std::int64_t rounds) {
  __m256i x = _mm256_set1_epi8(1);
  INGOT_CHAINS(__m256i, _mm256_setzero_si256());
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = _mm256_dpbusd_avx_epi32(a, x, x);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m256i total = _mm256_setzero_si256();
#define INGOT_STEP(a) total = _mm256_add_epi32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm256_cvtsi256_si32(total);
}

__attribute__((target("avx2"))) double dot_avx2(std::int64_t rounds) {
  __m256i x = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
  INGOT_CHAINS(__m256i, _mm256_setzero_si256());
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) \
  INGOT_FORGET(x)     \
  a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_maddubs_epi16(x, x), ones));
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m256i total = _mm256_setzero_si256();
#define INGOT_STEP(a) total = _mm256_add_epi32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm256_cvtsi256_si32(total);
}

// Sign-extends to 16 bits in the loop, as a kernel without maddubs has to.
double dot_sse2(std::int64_t rounds) {
  __m128i x = _mm_set1_epi8(1);
  INGOT_CHAINS(__m128i, _mm_setzero_si128());
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a)                                                                          \
  {                                                                                            \
    INGOT_FORGET(x)                                                                            \
    __m128i low = _mm_srai_epi16(_mm_unpacklo_epi8(x, x), 8);                                  \
    __m128i high = _mm_srai_epi16(_mm_unpackhi_epi8(x, x), 8);                                 \
    a = _mm_add_epi32(a, _mm_add_epi32(_mm_madd_epi16(low, low), _mm_madd_epi16(high, high))); \
  }
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m128i total = _mm_setzero_si128();
#define INGOT_STEP(a) total = _mm_add_epi32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm_cvtsi128_si32(total);
}

__attribute__((target("avx512f,avx512bf16"))) double dot_avx512_bf16(std::int64_t rounds) {
  const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3f80));  // ones
  INGOT_CHAINS(__m512, _mm512_setzero_ps());
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = _mm512_dpbf16_ps(a, x, x);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  __m512 total = _mm512_setzero_ps();
#define INGOT_STEP(a) total = _mm512_add_ps(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return _mm512_cvtss_f32(total);
}

#undef INGOT_CHAINS
#undef INGOT_EACH_CHAIN
#undef INGOT_FORGET

}  // namespace

ComputeLoop best_fma_loop(FeatureSet features) {
  if (features.contains(Feature::avx512)) return {fma_avx512, chains * 16 * two};
  if (features.contains(Feature::avx2)) return {fma_avx2, chains * 8 * two};
  return {multiply_add_sse2, chains * 4 * two};
}

ComputeLoop best_int8_dot_loop(FeatureSet features) {
  if (features.contains(Feature::avx512_vnni)) return {dot_avx512_vnni, chains * 64 * two};
  if (features.contains(Feature::avx512)) return {dot_avx512, chains * 64 * two};
  if (features.contains(Feature::avx_vnni)) return {dot_avx_vnni, chains * 32 * two};
  if (features.contains(Feature::avx2)) return {dot_avx2, chains * 32 * two};
  return {dot_sse2, chains * 16 * two};
}

ComputeLoop best_int8_matrix_loop(FeatureSet features) {
  return features.contains(Feature::amx_int8) ? int8_tile_loop() : best_int8_dot_loop(features);
}

ComputeLoop best_bf16_loop(FeatureSet features) {
  if (features.contains(Feature::amx_bf16)) return bf16_tile_loop();
  if (features.contains(Feature::avx512_bf16)) return {dot_avx512_bf16, chains * 32 * two};
  return best_fma_loop(features);
}

}  // namespace ingot

#endif
