// Peak loops for aarch64. Sixteen independent chains: the widest cores have four vector pipes with a multiply-add
// latency of four cycles, and sixteen accumulators with their operands fit thirty-two registers.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "machine/peak_loops.h"

namespace ingot {
namespace {

constexpr double chains = 16;
constexpr double two = 2;  // a multiply and an add

#define INGOT_CHAINS(type, start)                                                                                  \
  type a0 = start, a1 = start, a2 = start, a3 = start, a4 = start, a5 = start, a6 = start, a7 = start, a8 = start, \
       a9 = start, a10 = start, a11 = start, a12 = start, a13 = start, a14 = start, a15 = start
#define INGOT_EACH_CHAIN(step)                                                                                  \
  step(a0) step(a1) step(a2) step(a3) step(a4) step(a5) step(a6) step(a7) step(a8) step(a9) step(a10) step(a11) \
      step(a12) step(a13) step(a14) step(a15)
// Makes the compiler forget a value: else chains that start alike are merged into one, and the product of two
// unchanging operands is hoisted out of the loop.
#define INGOT_FORGET(value) __asm__ volatile("" : "+w"(value));

double fma_neon(std::int64_t rounds) {
  // The accumulator is also the addend on this architecture: a = a + a * 0 stays 1 and needs no copy, which would take
  // a pipe from a multiply-add. Each step reads its own chain alone: with operands shared by all, steps may settle in
  // an order that leaves pipes idle.
  float32x4_t zero = vdupq_n_f32(0);
  INGOT_FORGET(zero)
  INGOT_CHAINS(float32x4_t, vdupq_n_f32(1));
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = vfmaq_f32(a, a, zero);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  float32x4_t total = vdupq_n_f32(0);
#define INGOT_STEP(a) total = vaddq_f32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return vaddvq_f32(total);
}

// A chain is its own first factor here, too: with factors that were written long ago a Neoverse-V1 starts two of these
// a cycle, with one that was just computed four.
__attribute__((target("arch=armv8.2-a+dotprod"))) double dot_dotprod(std::int64_t rounds) {
  int8x16_t zero = vdupq_n_s8(0);
  INGOT_FORGET(zero)
  INGOT_CHAINS(int32x4_t, vdupq_n_s32(1));
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = vdotq_s32(a, vreinterpretq_s8_s32(a), zero);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  int32x4_t total = vdupq_n_s32(0);
#define INGOT_STEP(a) total = vaddq_s32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return vgetq_lane_s32(total, 0);
}

// SMMLA: two rows of eight bytes by two of eight.
__attribute__((target("arch=armv8.2-a+i8mm"))) double matrix_i8mm(std::int64_t rounds) {
  int8x16_t zero = vdupq_n_s8(0);
  INGOT_FORGET(zero)
  INGOT_CHAINS(int32x4_t, vdupq_n_s32(1));
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = vmmlaq_s32(a, vreinterpretq_s8_s32(a), zero);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  int32x4_t total = vdupq_n_s32(0);
#define INGOT_STEP(a) total = vaddq_s32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return vgetq_lane_s32(total, 0);
}

// BFMMLA: two rows of four numbers by two of four. It adds to its chain later than it reads its factors, so that a
// chain as a factor would be waited for.
__attribute__((target("arch=armv8.2-a+bf16"))) double matrix_bf16(std::int64_t rounds) {
  bfloat16x8_t zero = vreinterpretq_bf16_u16(vdupq_n_u16(0));
  INGOT_FORGET(zero)
  INGOT_CHAINS(float32x4_t, vdupq_n_f32(1));
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) a = vbfmmlaq_f32(a, zero, zero);
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  float32x4_t total = vdupq_n_f32(0);
#define INGOT_STEP(a) total = vaddq_f32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return vaddvq_f32(total);
}

// Before dotprod: widening products of both halves, then pairwise addition into 32 bits.
double dot_neon(std::int64_t rounds) {
  int8x16_t x = vdupq_n_s8(1);
  INGOT_CHAINS(int32x4_t, vdupq_n_s32(0));
  INGOT_EACH_CHAIN(INGOT_FORGET)
  for (std::int64_t round = 0; round < rounds; ++round) {
#define INGOT_STEP(a) \
  INGOT_FORGET(x)     \
  a = vpadalq_s16(a, vmlal_high_s8(vmull_s8(vget_low_s8(x), vget_low_s8(x)), x, x));
    INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  }
  int32x4_t total = vdupq_n_s32(0);
#define INGOT_STEP(a) total = vaddq_s32(total, a);
  INGOT_EACH_CHAIN(INGOT_STEP)
#undef INGOT_STEP
  return vgetq_lane_s32(total, 0);
}

#undef INGOT_CHAINS
#undef INGOT_EACH_CHAIN
#undef INGOT_FORGET

std::uint64_t read_neon(const std::byte* from, std::size_t bytes) {
  uint64x2_t s0 = vdupq_n_u64(0), s1 = s0, s2 = s0, s3 = s0;
  for (std::size_t offset = 0; offset < bytes; offset += 64) {
    const auto* block = reinterpret_cast<const std::uint64_t*>(from + offset);
    s0 = vaddq_u64(s0, vld1q_u64(block));
    s1 = vaddq_u64(s1, vld1q_u64(block + 2));
    s2 = vaddq_u64(s2, vld1q_u64(block + 4));
    s3 = vaddq_u64(s3, vld1q_u64(block + 6));
  }
  return vaddvq_u64(vaddq_u64(vaddq_u64(s0, s1), vaddq_u64(s2, s3)));
}

void write_neon(std::byte* to, std::size_t bytes) {
  // Bytes that differ, so that no compiler turns the loop into a call of memset, which may zero by cache line.
  uint32x4_t value = vdupq_n_u32(0x01020304);
  for (std::size_t offset = 0; offset < bytes; offset += 32) {
    auto* block = reinterpret_cast<std::uint32_t*>(to + offset);
    vst1q_u32(block, value);
    vst1q_u32(block + 4, value);
  }
}

void copy_neon(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t offset = 0; offset < bytes; offset += 32) {
    const auto* source = reinterpret_cast<const std::uint64_t*>(from + offset);
    auto* target = reinterpret_cast<std::uint64_t*>(to + offset);
    uint64x2_t first = vld1q_u64(source), second = vld1q_u64(source + 2);
    vst1q_u64(target, first);
    vst1q_u64(target + 2, second);
  }
}

}  // namespace

ComputeLoop best_fma_loop(FeatureSet) { return {fma_neon, chains * 4 * two}; }

ComputeLoop best_int8_dot_loop(FeatureSet features) {
  if (features.contains(Feature::dotprod)) return {dot_dotprod, chains * 16 * two};
  return {dot_neon, chains * 16 * two};
}

ComputeLoop best_int8_matrix_loop(FeatureSet features) {
  if (features.contains(Feature::i8mm)) return {matrix_i8mm, chains * 32 * two};
  return best_int8_dot_loop(features);
}

ComputeLoop best_bf16_loop(FeatureSet features) {
  if (features.contains(Feature::bf16)) return {matrix_bf16, chains * 16 * two};
  return best_fma_loop(features);
}

StreamLoops best_stream_loops(FeatureSet) { return {read_neon, write_neon, copy_neon}; }

}  // namespace ingot

#endif
