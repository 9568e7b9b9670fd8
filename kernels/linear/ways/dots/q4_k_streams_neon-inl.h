// Two rows of Q4_K weights times one row of x, as one block of assembly: part of gemm_codes_neon_dotprod.cc, before
// codes_256_neon-inl.h. Why assembly, and how a pass hands what it has not finished to the next:
// q4_0_streams_neon-inl.h.
//
// A pass is a block of each row in eight steps, of which step 2 j + r works on bytes 32 j to 32 j + 31 of row r, that
// is on groups 2 j (low nibbles) and 2 j + 1 (high ones). It loads the bytes of the next step, splits its own,
// multiplies those that the step before split, and multiplies by integer scales what that one summed.
//
//   v0      sums: two lanes a row      v9-10   integers of two groups     v26-27  minimums of the rows
//   v1      15 in each byte            v11-12  totals of the rows         v28     scale of x
//   v2      where bytes go as words    v13-16, v17-20  x for even and     v29     sums of x, then scales of the rows
//   v3-6    bytes, then high nibbles           odd j, low then high       v30     scales of their minimums
//   v7-8    low nibbles                v21-24  integer scales: groups     v31, v25  products with the minimums, then
//                                              0-3 and 4-7 of each row              totals and those, joined

// clang-format off
#define INGOT_BYTES(first, second, row, at) "ldp q" #first ", q" #second ", [%[w" #row "], #" #at "]\n"
#define INGOT_OF_X(a, b, c, d, at) \
  "ldp q" #a ", q" #b ", [%[x], #" #at "]\n" "ldp q" #c ", q" #d ", [%[x], #" #at " + 64]\n"
#define INGOT_SPLIT(first, second) \
  "and v7.16b, v" #first ".16b, v1.16b\n" "ushr v" #first ".16b, v" #first ".16b, #4\n" \
  "and v8.16b, v" #second ".16b, v1.16b\n" "ushr v" #second ".16b, v" #second ".16b, #4\n"
#define INGOT_DOTS(first, second, a, b, c, d) \
  "movi v9.2d, #0\n" "movi v10.2d, #0\n" \
  "sdot v9.4s, v7.16b, v" #a ".16b\n" "sdot v10.4s, v" #first ".16b, v" #c ".16b\n" \
  "sdot v9.4s, v8.16b, v" #b ".16b\n" "sdot v10.4s, v" #second ".16b, v" #d ".16b\n"
#define INGOT_BEGIN(total, scales) \
  "mul v" #total ".4s, v9.4s, v" #scales ".s[0]\n" "mla v" #total ".4s, v10.4s, v" #scales ".s[1]\n"
#define INGOT_GO_ON(total, scales, even, odd) \
  "mla v" #total ".4s, v9.4s, v" #scales ".s[" #even "]\n" "mla v" #total ".4s, v10.4s, v" #scales ".s[" #odd "]\n"
#define INGOT_SPREAD(scales) "tbl v" #scales ".16b, {v" #scales ".16b}, v2.16b\n"
#define INGOT_LOWER_SCALES(to, row) \
  "ldr %w[a], [%[w" #row "], #4]\n" "and %w[a], %w[a], #0x3f3f3f3f\n" "fmov s" #to ", %w[a]\n"
#define INGOT_UPPER_SCALES(to, row) \
  "ldr %w[a], [%[w" #row "], #4]\n" "ldr %w[c], [%[w" #row "], #12]\n" "lsr %w[a], %w[a], #2\n" \
  "and %w[a], %w[a], #0x30303030\n" "and %w[c], %w[c], #0x0f0f0f0f\n" "orr %w[a], %w[a], %w[c]\n" \
  "fmov s" #to ", %w[a]\n"
#define INGOT_MINIMUMS(to, row) \
  "ldr %w[a], [%[w" #row "], #8]\n" "ldr %w[c], [%[w" #row "], #12]\n" "and %w[b], %w[a], #0x3f3f3f3f\n" \
  "lsr %w[a], %w[a], #2\n" "lsr %w[c], %w[c], #4\n" "and %w[a], %w[a], #0x30303030\n" \
  "and %w[c], %w[c], #0x0f0f0f0f\n" "orr %w[a], %w[a], %w[c]\n" "orr %[b], %[b], %[a], lsl #32\n" \
  "fmov d" #to ", %[b]\n"
#define INGOT_SUMS_OF_X "ldr q29, [%[x], #512]\n"
#define INGOT_MULTIPLY(minimums, product) \
  "uxtl v" #minimums ".8h, v" #minimums ".8b\n" "smull v" #product ".4s, v" #minimums ".4h, v29.4h\n" \
  "smlal2 v" #product ".4s, v" #minimums ".8h, v29.8h\n"
#define INGOT_FLOAT_SCALES \
  "ldr %w[a], [%[w0]]\n" "ldr %w[b], [%[w1]]\n" "orr %[a], %[a], %[b], lsl #32\n" "fmov d29, %[a]\n" \
  "ldr s28, [%[x], #544]\n"
#define INGOT_JOIN "addp v25.4s, v31.4s, v25.4s\n" "addp v31.4s, v11.4s, v12.4s\n"
#define INGOT_CONVERT "scvtf v31.4s, v31.4s\n" "scvtf v25.4s, v25.4s\n" "fcvtl v29.4s, v29.4h\n"
#define INGOT_SCALE \
  "fmul v31.4s, v31.4s, v28.s[0]\n" "fmul v25.4s, v25.4s, v28.s[0]\n" \
  "trn2 v30.4s, v29.4s, v29.4s\n" "trn1 v29.4s, v29.4s, v29.4s\n"
#define INGOT_ADD "fmla v0.4s, v31.4s, v29.4s\n" "fmls v0.4s, v25.4s, v30.4s\n"
// On to the next block, where there is one.
#define INGOT_ADVANCE \
  "sub %[left], %[left], #1\n" "mov %[a], #144\n" "mov %[b], #576\n" "cmp %[left], #0\n" \
  "csel %[a], %[a], xzr, gt\n" "csel %[b], %[b], xzr, gt\n" \
  "add %[w0], %[w0], %[a]\n" "add %[w1], %[w1], %[a]\n" "add %[x], %[x], %[b]\n"

// Two lanes a row. Precondition: blocks > 0.
HWY_INLINE float32x4_t multiply_blocks(const std::array<const BlockQ4_K*, 2>& weights, std::int64_t blocks,
                                       const CodedSpan256* x) {
  static_assert(sizeof(BlockQ4_K) == 144 && offsetof(BlockQ4_K, scales) == 4 && offsetof(BlockQ4_K, low) == 16 &&
                sizeof(CodedSpan256) == 576 && offsetof(CodedSpan256, sums) == 512 && offsetof(CodedSpan256, scale) == 544);
  constexpr std::uint8_t as_words[16] = {0, 255, 255, 255, 1, 255, 255, 255, 2, 255, 255, 255, 3, 255, 255, 255};
  const BlockQ4_K *w0 = weights[0], *w1 = weights[1];
  std::int64_t left = blocks;
  std::uint64_t a, b, c;
  float32x4_t both;
  __asm__ volatile(
        ".irp register, 0,5,6,7,8,9,10,11,12,17,18,19,20,22,24,25,26,27,28,29,30,31\n"
        "movi v\\register\\().2d, #0\n"
        ".endr\n"
        "movi v1.16b, #15\n"
        "ldr q2, [%[as_words]]\n"
        INGOT_BYTES(3, 4, 0, 16) INGOT_OF_X(13, 14, 15, 16, 0) INGOT_LOWER_SCALES(21, 0) INGOT_LOWER_SCALES(23, 1)
        "1:\n"
        INGOT_GO_ON(11, 22, 2, 3) INGOT_DOTS(5, 6, 17, 18, 19, 20) INGOT_BYTES(5, 6, 1, 16) INGOT_SPLIT(3, 4)
            INGOT_SPREAD(21)
        INGOT_GO_ON(12, 24, 2, 3) INGOT_DOTS(3, 4, 13, 14, 15, 16) INGOT_BYTES(3, 4, 0, 48) INGOT_SPLIT(5, 6)
            INGOT_OF_X(17, 18, 19, 20, 32) INGOT_SPREAD(23)
        INGOT_JOIN INGOT_BEGIN(11, 21) INGOT_DOTS(5, 6, 13, 14, 15, 16) INGOT_BYTES(5, 6, 1, 48) INGOT_SPLIT(3, 4)
            INGOT_UPPER_SCALES(22, 0)
        INGOT_BEGIN(12, 23) INGOT_DOTS(3, 4, 17, 18, 19, 20) INGOT_BYTES(3, 4, 0, 80) INGOT_SPLIT(5, 6)
            INGOT_OF_X(13, 14, 15, 16, 128) INGOT_UPPER_SCALES(24, 1) INGOT_CONVERT
        INGOT_GO_ON(11, 21, 2, 3) INGOT_DOTS(5, 6, 17, 18, 19, 20) INGOT_BYTES(5, 6, 1, 80) INGOT_SPLIT(3, 4) INGOT_SCALE
            INGOT_SPREAD(22) INGOT_MINIMUMS(26, 0)
        INGOT_GO_ON(12, 23, 2, 3) INGOT_DOTS(3, 4, 13, 14, 15, 16) INGOT_BYTES(3, 4, 0, 112) INGOT_SPLIT(5, 6)
            INGOT_OF_X(17, 18, 19, 20, 160) INGOT_ADD INGOT_SPREAD(24) INGOT_MINIMUMS(27, 1) INGOT_SUMS_OF_X
        INGOT_GO_ON(11, 22, 0, 1) INGOT_DOTS(5, 6, 13, 14, 15, 16) INGOT_BYTES(5, 6, 1, 112) INGOT_SPLIT(3, 4)
            INGOT_MULTIPLY(26, 31)
        INGOT_GO_ON(12, 24, 0, 1) INGOT_DOTS(3, 4, 17, 18, 19, 20) INGOT_MULTIPLY(27, 25) INGOT_FLOAT_SCALES
            INGOT_ADVANCE INGOT_BYTES(3, 4, 0, 16) INGOT_SPLIT(5, 6) INGOT_OF_X(13, 14, 15, 16, 0)
            INGOT_LOWER_SCALES(21, 0) INGOT_LOWER_SCALES(23, 1)
        "cbnz %[left], 1b\n"
        INGOT_GO_ON(11, 22, 2, 3) INGOT_DOTS(5, 6, 17, 18, 19, 20) INGOT_GO_ON(12, 24, 2, 3)
        INGOT_JOIN INGOT_CONVERT INGOT_SCALE INGOT_ADD
        "str q0, [%[both]]\n"
      : [w0] "+r"(w0), [w1] "+r"(w1), [x] "+r"(x), [left] "+r"(left), [a] "=&r"(a), [b] "=&r"(b),
        [c] "=&r"(c)
      : [as_words] "r"(as_words), [both] "r"(&both)
      : "cc", "memory", INGOT_EVERY_VECTOR);
  return both;
}
// clang-format on

#undef INGOT_BYTES
#undef INGOT_OF_X
#undef INGOT_SPLIT
#undef INGOT_DOTS
#undef INGOT_BEGIN
#undef INGOT_GO_ON
#undef INGOT_SPREAD
#undef INGOT_LOWER_SCALES
#undef INGOT_UPPER_SCALES
#undef INGOT_MINIMUMS
#undef INGOT_SUMS_OF_X
#undef INGOT_MULTIPLY
#undef INGOT_FLOAT_SCALES
#undef INGOT_JOIN
#undef INGOT_CONVERT
#undef INGOT_SCALE
#undef INGOT_ADD
#undef INGOT_ADVANCE
