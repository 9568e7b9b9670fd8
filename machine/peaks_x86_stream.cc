// Streaming loops for x86_64. Width hardly matters to memory and is everything to the first-level cache, whose ports
// move one whole vector each. Eight independent sums, so that reading waits for no addition.
#if defined(__x86_64__)

#include <immintrin.h>

#include "machine/peak_loops.h"

namespace ingot {
namespace {

__attribute__((target("avx512f"))) std::uint64_t read_avx512(const std::byte* from, std::size_t bytes) {
  __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t offset = 0; offset < bytes; offset += stream_block) {
    const std::byte* block = from + offset;
    s0 = _mm512_add_epi64(s0, _mm512_load_si512(block));
    s1 = _mm512_add_epi64(s1, _mm512_load_si512(block + 64));
    s2 = _mm512_add_epi64(s2, _mm512_load_si512(block + 128));
    s3 = _mm512_add_epi64(s3, _mm512_load_si512(block + 192));
    s4 = _mm512_add_epi64(s4, _mm512_load_si512(block + 256));
    s5 = _mm512_add_epi64(s5, _mm512_load_si512(block + 320));
    s6 = _mm512_add_epi64(s6, _mm512_load_si512(block + 384));
    s7 = _mm512_add_epi64(s7, _mm512_load_si512(block + 448));
  }
  s0 = _mm512_add_epi64(_mm512_add_epi64(s0, s1), _mm512_add_epi64(s2, s3));
  s4 = _mm512_add_epi64(_mm512_add_epi64(s4, s5), _mm512_add_epi64(s6, s7));
  alignas(64) std::uint64_t sums[8];
  _mm512_store_si512(sums, _mm512_add_epi64(s0, s4));
  return sums[0];
}

// A value whose bytes differ, so that no compiler turns the loop into a call of memset, which may choose
// non-temporal stores: kernels store in the ordinary way, and theirs is the roof to know.
constexpr int pattern = 0x01020304;

__attribute__((target("avx512f"))) void write_avx512(std::byte* to, std::size_t bytes) {
  __m512i value = _mm512_set1_epi32(pattern);
  for (std::size_t offset = 0; offset < bytes; offset += 128) {
    _mm512_store_si512(to + offset, value);
    _mm512_store_si512(to + offset + 64, value);
  }
}

__attribute__((target("avx512f"))) void copy_avx512(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t offset = 0; offset < bytes; offset += 128) {
    __m512i first = _mm512_load_si512(from + offset), second = _mm512_load_si512(from + offset + 64);
    _mm512_store_si512(to + offset, first);
    _mm512_store_si512(to + offset + 64, second);
  }
}

__attribute__((target("avx2"))) std::uint64_t read_avx2(const std::byte* from, std::size_t bytes) {
  __m256i s0 = _mm256_setzero_si256(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t offset = 0; offset < bytes; offset += 256) {
    const auto* block = reinterpret_cast<const __m256i*>(from + offset);
    s0 = _mm256_add_epi64(s0, _mm256_load_si256(block));
    s1 = _mm256_add_epi64(s1, _mm256_load_si256(block + 1));
    s2 = _mm256_add_epi64(s2, _mm256_load_si256(block + 2));
    s3 = _mm256_add_epi64(s3, _mm256_load_si256(block + 3));
    s4 = _mm256_add_epi64(s4, _mm256_load_si256(block + 4));
    s5 = _mm256_add_epi64(s5, _mm256_load_si256(block + 5));
    s6 = _mm256_add_epi64(s6, _mm256_load_si256(block + 6));
    s7 = _mm256_add_epi64(s7, _mm256_load_si256(block + 7));
  }
  s0 = _mm256_add_epi64(_mm256_add_epi64(s0, s1), _mm256_add_epi64(s2, s3));
  s4 = _mm256_add_epi64(_mm256_add_epi64(s4, s5), _mm256_add_epi64(s6, s7));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(_mm256_add_epi64(s0, s4))));
}

__attribute__((target("avx2"))) void write_avx2(std::byte* to, std::size_t bytes) {
  __m256i value = _mm256_set1_epi32(pattern);
  for (std::size_t offset = 0; offset < bytes; offset += 64) {
    auto* block = reinterpret_cast<__m256i*>(to + offset);
    _mm256_store_si256(block, value);
    _mm256_store_si256(block + 1, value);
  }
}

__attribute__((target("avx2"))) void copy_avx2(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t offset = 0; offset < bytes; offset += 64) {
    const auto* source = reinterpret_cast<const __m256i*>(from + offset);
    auto* target = reinterpret_cast<__m256i*>(to + offset);
    __m256i first = _mm256_load_si256(source), second = _mm256_load_si256(source + 1);
    _mm256_store_si256(target, first);
    _mm256_store_si256(target + 1, second);
  }
}

std::uint64_t read_sse2(const std::byte* from, std::size_t bytes) {
  __m128i s0 = _mm_setzero_si128(), s1 = s0, s2 = s0, s3 = s0;
  for (std::size_t offset = 0; offset < bytes; offset += 64) {
    const auto* block = reinterpret_cast<const __m128i*>(from + offset);
    s0 = _mm_add_epi64(s0, _mm_load_si128(block));
    s1 = _mm_add_epi64(s1, _mm_load_si128(block + 1));
    s2 = _mm_add_epi64(s2, _mm_load_si128(block + 2));
    s3 = _mm_add_epi64(s3, _mm_load_si128(block + 3));
  }
  s0 = _mm_add_epi64(_mm_add_epi64(s0, s1), _mm_add_epi64(s2, s3));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(s0));
}

void write_sse2(std::byte* to, std::size_t bytes) {
  __m128i value = _mm_set1_epi32(pattern);
  for (std::size_t offset = 0; offset < bytes; offset += 32) {
    auto* block = reinterpret_cast<__m128i*>(to + offset);
    _mm_store_si128(block, value);
    _mm_store_si128(block + 1, value);
  }
}

void copy_sse2(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t offset = 0; offset < bytes; offset += 32) {
    const auto* source = reinterpret_cast<const __m128i*>(from + offset);
    auto* target = reinterpret_cast<__m128i*>(to + offset);
    __m128i first = _mm_load_si128(source), second = _mm_load_si128(source + 1);
    _mm_store_si128(target, first);
    _mm_store_si128(target + 1, second);
  }
}

}  // namespace

StreamLoops best_stream_loops(FeatureSet features) {
  if (features.contains(Feature::avx512)) return {read_avx512, write_avx512, copy_avx512};
  if (features.contains(Feature::avx2)) return {read_avx2, write_avx2, copy_avx2};
  return {read_sse2, write_sse2, copy_sse2};
}

}  // namespace ingot

#endif
