// The products with rows of q8_0, written out in assembly, because their order decides. No guard and no attributes:
// included where FMLAL and SDOT are allowed, inside a namespace, after arm_neon.h, decode_plan.h, quad_words_neon.h and
// quad_products_neon-inl.h.
//
// Keys meet queries that are codes as well: a SDOT multiplies four numbers of a key with those of four heads, 64 of
// them for a block of eight tokens; 24 instructions make floats of sums and multiply them by both scales, 8 bring the
// keys'.
//
// Values become floats in two steps: a code c added to the bits of the half 2.25 is the half 2.25 + c / 512, and FMLAL
// adds it to -2.25, which a load brings without a vector pipe. Both are exact. For 16 numbers that is 2 instructions
// more than f16 takes. They take 7.1 cycles of a Neoverse-V1 with the 16 multiply-adds of four heads where halves are
// made in the step that uses them, in any order tried, and 6.3 where they are made a step ahead.

// Codes as halves, and where FMLAL starts so that they become floats.
inline constexpr std::int16_t coded_value_bits = 0x4080;
inline constexpr float coded_value_factor = 512;
alignas(16) inline constexpr float coded_value_start[4] = {-2.25f, -2.25f, -2.25f, -2.25f};

// clang-format off
// Four codes of each of eight keys with those of four heads.
#define INGOT_CODES(sum, key, query, lane) "sdot v" sum ".4s, v" query ".16b, v" key ".4b[" lane "]\n"
#define INGOT_ADD_CODES(query, lane) \
  INGOT_CODES("16", "0", query, lane) INGOT_CODES("17", "1", query, lane) INGOT_CODES("18", "2", query, lane) \
  INGOT_CODES("19", "3", query, lane) INGOT_CODES("20", "4", query, lane) INGOT_CODES("21", "5", query, lane) \
  INGOT_CODES("22", "6", query, lane) INGOT_CODES("23", "7", query, lane)
#define INGOT_LOAD_SCALES \
  "ldr h0, [%[row0], %[i]]\n ldr h1, [%[row1], %[i]]\n ldr h2, [%[row2], %[i]]\n ldr h3, [%[row3], %[i]]\n" \
  "ldr h4, [%[row4], %[i]]\n ldr h5, [%[row5], %[i]]\n ldr h6, [%[row6], %[i]]\n ldr h7, [%[row7], %[i]]\n" \
  "zip1 v0.8h, v0.8h, v1.8h\n zip1 v2.8h, v2.8h, v3.8h\n zip1 v4.8h, v4.8h, v5.8h\n zip1 v6.8h, v6.8h, v7.8h\n" \
  "zip1 v12.4s, v0.4s, v2.4s\n zip1 v13.4s, v4.4s, v6.4s\n fcvtl v12.4s, v12.4h\n fcvtl v13.4s, v13.4h\n"
#define INGOT_SCALE_SUM(to, sum, scales, lane) \
  "scvtf v" sum ".4s, v" sum ".4s\n fmul v" sum ".4s, v" sum ".4s, v" scales ".s[" lane "]\n" \
  "fmla v" to ".4s, v" sum ".4s, v14.4s\n"

// scores [8][4] of eight tokens. Queries are codes [dimension / 4][4 heads][4] and scales [block][4 heads].
HWY_INLINE void dot_coded_quad(const std::int8_t* queries, const float* scales, const std::byte* const* rows,
                               std::int64_t blocks, const RowsAhead& ahead, float* scores) {
  std::int64_t i = 0;  // bytes of a row
  const std::byte* asked = ahead.near;
  __asm__ volatile(
      INGOT_CLEAR("24", "25", "26", "27") INGOT_CLEAR("28", "29", "30", "31")
      ".p2align 5\n"
      "1:\n"
      INGOT_LOAD_SCALES
      "add %[i], %[i], #2\n"
      "ldp q8, q9, [%[queries]]\n ldp q10, q11, [%[queries], #32]\n"
      INGOT_LOAD_KEYS
      INGOT_CLEAR("16", "17", "18", "19") INGOT_CLEAR("20", "21", "22", "23")
      INGOT_ADD_CODES("8", "0") INGOT_ADD_CODES("9", "1")
      INGOT_ASK INGOT_ASK
      INGOT_ADD_CODES("10", "2") INGOT_ADD_CODES("11", "3")
      "ldp q8, q9, [%[queries], #64]\n ldp q10, q11, [%[queries], #96]\n"
      "add %[queries], %[queries], #128\n add %[i], %[i], #16\n"
      INGOT_LOAD_KEYS
      INGOT_ASK INGOT_ASK INGOT_ASK
      INGOT_ADD_CODES("8", "0") INGOT_ADD_CODES("9", "1")
      INGOT_ADD_CODES("10", "2") INGOT_ADD_CODES("11", "3")
      "ldr q14, [%[scales]], #16\n"
      INGOT_SCALE_SUM("24", "16", "12", "0") INGOT_SCALE_SUM("25", "17", "12", "1")
      INGOT_SCALE_SUM("26", "18", "12", "2") INGOT_SCALE_SUM("27", "19", "12", "3")
      INGOT_SCALE_SUM("28", "20", "13", "0") INGOT_SCALE_SUM("29", "21", "13", "1")
      INGOT_SCALE_SUM("30", "22", "13", "2") INGOT_SCALE_SUM("31", "23", "13", "3")
      "add %[i], %[i], #16\n cmp %[i], %[end]\n b.ne 1b\n"
      "stp q24, q25, [%[scores]]\n stp q26, q27, [%[scores], #32]\n"
      "stp q28, q29, [%[scores], #64]\n stp q30, q31, [%[scores], #96]\n"
      : [queries] "+r"(queries), [scales] "+r"(scales), [i] "+r"(i), [asked] "+r"(asked)
      : INGOT_KEY_ROWS, [end] "r"(blocks * static_cast<std::int64_t>(sizeof(BlockQ8_0))), [step] "r"(ahead.step),
        [far] "r"(ahead.far), [scores] "r"(scores)
      : INGOT_QUAD_CLOBBERS);
}

#define INGOT_HALVES(low, high) \
  "saddw v" low ".8h, v30.8h, v" high ".8b\n saddw2 v" high ".8h, v30.8h, v" high ".16b\n"
#define INGOT_TWO_VECTORS(to, other, halves) \
  "ldr q" to ", [%[start]]\n fmlal v" to ".4s, v" halves ".4h, v31.4h\n" \
  "ldr q" other ", [%[start]]\n fmlal2 v" other ".4s, v" halves ".4h, v31.4h\n"
#define INGOT_CODE_CONSTANTS "fmov v31.8h, #1.0\n dup v30.8h, %w[bits]\n"
#define INGOT_CODE_OPERANDS [start] "r"(coded_value_start), [bits] "r"(coded_value_bits)

// Behind the last row that is read again. By a table of pointers rows of one head take a tenth more.
#define INGOT_NEXT_ROW \
  "add %[row], %[row], %[stride]\n cmp %[row], %[last]\n csel %[row], %[row], %[last], ls\n"
#define INGOT_NEXT_CODES(to) "ldr q" to ", [%[row]]\n" INGOT_NEXT_ROW
// A row's products, the next one's floats, and halves of the one behind it.
#define INGOT_MIX_ROW(value0, value1, value2, value3, weights, to0, to1, to2, to3, low, high, next_low, next_high) \
  INGOT_NEXT_CODES(next_high) \
  INGOT_TWO_VECTORS(to0, to1, low) \
  INGOT_HALVES(next_low, next_high) \
  INGOT_TWO_VECTORS(to2, to3, high) \
  INGOT_ADD_VALUES(value0, value1, value2, value3, weights)

// outputs [4][16] += weights [count][4] times 16 codes of `count` rows, one or more, that lie `stride` bytes apart.
// Weights hold the rows' scales, and 512.
HWY_INLINE void mix_coded_quad(const float* weights, const std::byte* row, std::int64_t stride, std::int64_t count,
                               const RowsAhead& ahead, float* outputs, std::int64_t width) {
  const std::byte* last = row + (count - 1) * stride;
  std::int64_t pairs = count / 2;
  const std::byte* asked = ahead.near;
  __asm__ volatile(
      INGOT_CODE_CONSTANTS
      INGOT_NEXT_CODES("29") INGOT_HALVES("28", "29")
      INGOT_OUTPUTS("ldp")
      INGOT_TWO_VECTORS("20", "21", "28") INGOT_TWO_VECTORS("22", "23", "29")
      INGOT_NEXT_CODES("19") INGOT_HALVES("18", "19")
      "cbz %[pairs], 2f\n"
      ".p2align 5\n"
      "1:\n"
      "ldp q16, q17, [%[weights]], #32\n"
      INGOT_MIX_ROW("20", "21", "22", "23", "16", "24", "25", "26", "27", "18", "19", "28", "29")
      INGOT_ASK
      "sub %[pairs], %[pairs], #1\n"
      INGOT_MIX_ROW("24", "25", "26", "27", "17", "20", "21", "22", "23", "28", "29", "18", "19")
      "cbnz %[pairs], 1b\n"
      "2:\n"
      "tbz %[count], #0, 3f\n"
      "ldr q16, [%[weights]]\n"
      INGOT_ADD_VALUES("20", "21", "22", "23", "16")
      "3:\n"
      INGOT_OUTPUTS("stp")
      : [weights] "+r"(weights), [row] "+r"(row), [pairs] "+r"(pairs), [asked] "+r"(asked)
      : [stride] "r"(stride), [last] "r"(last), [count] "r"(count), [step] "r"(ahead.step), [far] "r"(ahead.far),
        INGOT_CODE_OPERANDS, INGOT_OUTPUT_ROWS
      : INGOT_QUAD_CLOBBERS);
}

// 16 of 32 numbers of a row.
#define INGOT_ADD_HALF(sum0, sum1, sum2, sum3, value0, value1, value2, value3, weights, lane) \
  INGOT_ADD(sum0, value0, weights, lane) INGOT_ADD(sum1, value1, weights, lane) \
  INGOT_ADD(sum2, value2, weights, lane) INGOT_ADD(sum3, value3, weights, lane)
#define INGOT_ADD_FIRST_HALF(weights, lane) INGOT_ADD_HALF("0", "1", "2", "3", "16", "17", "18", "19", weights, lane)
#define INGOT_ADD_OTHER_HALF(weights, lane) INGOT_ADD_HALF("4", "5", "6", "7", "20", "21", "22", "23", weights, lane)
#define INGOT_NEXT_BLOCK(to0, to1) "ldr q" to0 ", [%[row]]\n ldr q" to1 ", [%[row], #16]\n" INGOT_NEXT_ROW
// Products of a row's first half and of the other half of the row before, and halves of the row behind it.
#define INGOT_MIX_BLOCK(lane, weights_before, lane_before, low0, high0, low1, high1, next0, next1, next2, next3) \
  INGOT_NEXT_BLOCK(next1, next3) \
  INGOT_TWO_VECTORS("16", "17", low0) INGOT_HALVES(next0, next1) INGOT_TWO_VECTORS("18", "19", high0) \
  INGOT_ADD_OTHER_HALF(weights_before, lane_before) \
  INGOT_TWO_VECTORS("20", "21", low1) INGOT_HALVES(next2, next3) INGOT_TWO_VECTORS("22", "23", high1) \
  INGOT_ADD_FIRST_HALF("24", lane)

// outputs [32] += weights [count] times a block of codes of `count` rows, one or more. Rows and weights as above, but
// weights are zeros up to a multiple of four.
HWY_INLINE void mix_coded_block(const float* weights, const std::byte* row, std::int64_t stride, std::int64_t count,
                                const RowsAhead& ahead, float* outputs) {
  const std::byte* last = row + (count - 1) * stride;
  std::int64_t fours = divide_rounding_up(count, 4);
  const std::byte* asked = ahead.near;
  __asm__ volatile(
      INGOT_CODE_CONSTANTS
      INGOT_NEXT_BLOCK("9", "11") INGOT_HALVES("8", "9") INGOT_HALVES("10", "11")
      "ldp q0, q1, [%[outputs]]\n ldp q2, q3, [%[outputs], #32]\n"
      "ldp q4, q5, [%[outputs], #64]\n ldp q6, q7, [%[outputs], #96]\n"
      INGOT_CLEAR("20", "21", "22", "23")
      "movi v25.2d, #0\n"
      ".p2align 5\n"
      "1:\n"
      "ldr q24, [%[weights]], #16\n"
      INGOT_MIX_BLOCK("0", "25", "3", "8", "9", "10", "11", "12", "13", "14", "15")
      INGOT_ASK
      INGOT_MIX_BLOCK("1", "24", "0", "12", "13", "14", "15", "8", "9", "10", "11")
      INGOT_ASK
      INGOT_MIX_BLOCK("2", "24", "1", "8", "9", "10", "11", "12", "13", "14", "15")
      INGOT_ASK
      INGOT_MIX_BLOCK("3", "24", "2", "12", "13", "14", "15", "8", "9", "10", "11")
      "ldr q25, [%[weights], #-16]\n"
      "sub %[fours], %[fours], #1\n cbnz %[fours], 1b\n"
      INGOT_ADD_OTHER_HALF("25", "3")
      "stp q0, q1, [%[outputs]]\n stp q2, q3, [%[outputs], #32]\n"
      "stp q4, q5, [%[outputs], #64]\n stp q6, q7, [%[outputs], #96]\n"
      : [weights] "+r"(weights), [row] "+r"(row), [fours] "+r"(fours), [asked] "+r"(asked)
      : [stride] "r"(stride), [last] "r"(last), [step] "r"(ahead.step), [far] "r"(ahead.far), [outputs] "r"(outputs),
        INGOT_CODE_OPERANDS
      : INGOT_QUAD_CLOBBERS);
}

#undef INGOT_CODES
#undef INGOT_ADD_CODES
#undef INGOT_LOAD_SCALES
#undef INGOT_SCALE_SUM
#undef INGOT_HALVES
#undef INGOT_TWO_VECTORS
#undef INGOT_CODE_CONSTANTS
#undef INGOT_CODE_OPERANDS
#undef INGOT_NEXT_ROW
#undef INGOT_NEXT_CODES
#undef INGOT_MIX_ROW
#undef INGOT_ADD_HALF
#undef INGOT_ADD_FIRST_HALF
#undef INGOT_ADD_OTHER_HALF
#undef INGOT_NEXT_BLOCK
#undef INGOT_MIX_BLOCK
// clang-format on
