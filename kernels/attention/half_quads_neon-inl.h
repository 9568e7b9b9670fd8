// The two products of four query heads with rows of f16, written out in assembly: compilers neither place the next
// conversions ahead of this step's products nor load where it costs nothing. No guard and no attributes: included where
// FMLAL is allowed, inside a namespace, after arm_neon.h and decode_plan.h.
//
// f16 become floats by FMLAL, 0 + x 1, which is exact; zeros written by MOVI take no vector pipe. 16 multiply-adds and
// their 4 conversions are 20 instructions for 4 pipes: 5 cycles of a Neoverse-V1. The values loop takes 5.3, the keys
// loop 5.9. What it hangs on, each measured: conversions right behind the load they take (a load a step ahead: 6.7),
// loads of 16 bytes (of 8: 6.0), rows found by adding a stride (by a table of pointers: 6.2), and where the prefetch
// stands, which moves instructions from one pair of pipes to the other (5.3 or 5.8).

// clang-format off
#define INGOT_FLOATS(half, to, from) "movi v" to ".2d, #0\n fmlal" half " v" to ".4s, v" from ".4h, v31.4h\n"
#define INGOT_ADD(sum, vector, factors, lane) "fmla v" sum ".4s, v" vector ".4s, v" factors ".s[" lane "]\n"
#define INGOT_ASK \
  "prfm pldl1keep, [%[asked]]\n prfm pldl2keep, [%[asked], %[far]]\n add %[asked], %[asked], %[step]\n"
#define INGOT_QUAD_CLOBBERS \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", \
  "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v31", "memory", "cc"

// Four numbers of each of four keys: in v20 to v23 those of the first four tokens, in v24 to v27 of the others. Half is
// empty for the lower four of eight numbers and 2 for the upper ones.
#define INGOT_KEYS(half, to0, to1, to2, to3, row0, row1, row2, row3) \
  "ldr q28, [%[" row0 "], %[i]]\n ldr q29, [%[" row1 "], %[i]]\n" \
  INGOT_FLOATS(half, to0, "28") INGOT_FLOATS(half, to1, "29") \
  "ldr q28, [%[" row2 "], %[i]]\n ldr q29, [%[" row3 "], %[i]]\n" \
  INGOT_FLOATS(half, to2, "28") INGOT_FLOATS(half, to3, "29")
#define INGOT_FIRST_KEYS(half) INGOT_KEYS(half, "20", "21", "22", "23", "row0", "row1", "row2", "row3")
#define INGOT_LATER_KEYS(half) INGOT_KEYS(half, "24", "25", "26", "27", "row4", "row5", "row6", "row7")
// Two numbers of two keys, each token with two sums: one would not cover the latency.
#define INGOT_TWO_KEYS(even0, odd0, even1, odd1, key0, key1, query0, query1, lane0, lane1) \
  INGOT_ADD(even0, query0, key0, lane0) INGOT_ADD(odd0, query1, key0, lane1) \
  INGOT_ADD(even1, query0, key1, lane0) INGOT_ADD(odd1, query1, key1, lane1)
#define INGOT_ADD_FIRST_KEYS \
  INGOT_TWO_KEYS("0", "1", "2", "3", "20", "21", "16", "17", "0", "1") \
  INGOT_TWO_KEYS("4", "5", "6", "7", "22", "23", "16", "17", "0", "1") \
  INGOT_TWO_KEYS("0", "1", "2", "3", "20", "21", "18", "19", "2", "3") \
  INGOT_TWO_KEYS("4", "5", "6", "7", "22", "23", "18", "19", "2", "3")
#define INGOT_ADD_LATER_KEYS \
  INGOT_TWO_KEYS("8", "9", "10", "11", "24", "25", "16", "17", "0", "1") \
  INGOT_TWO_KEYS("12", "13", "14", "15", "26", "27", "16", "17", "0", "1") \
  INGOT_TWO_KEYS("8", "9", "10", "11", "24", "25", "18", "19", "2", "3") \
  INGOT_TWO_KEYS("12", "13", "14", "15", "26", "27", "18", "19", "2", "3")
#define INGOT_CLEAR(a, b, c, d) \
  "movi v" a ".2d, #0\n movi v" b ".2d, #0\n movi v" c ".2d, #0\n movi v" d ".2d, #0\n"
#define INGOT_JOIN(to, even, odd) "fadd v" to ".4s, v" even ".4s, v" odd ".4s\n"

// scores [8][4] of eight tokens; dimensions are whole eights. Queries are [dimension][4].
HWY_INLINE void dot_half_quad(const float* queries, const std::byte* const* rows, std::int64_t dimensions,
                              const RowsAhead& ahead, float* scores) {
  std::int64_t i = 0;  // bytes of a row
  const std::byte* asked = ahead.near;
  __asm__ volatile(
      INGOT_CLEAR("0", "1", "2", "3") INGOT_CLEAR("4", "5", "6", "7")
      INGOT_CLEAR("8", "9", "10", "11") INGOT_CLEAR("12", "13", "14", "15")
      "fmov v31.8h, #1.0\n"
      INGOT_FIRST_KEYS("")
      ".p2align 5\n"
      "1:\n"
      "ldp q16, q17, [%[queries]]\n ldp q18, q19, [%[queries], #32]\n"
      INGOT_LATER_KEYS("")
      INGOT_ASK INGOT_ASK
      INGOT_ADD_FIRST_KEYS
      INGOT_FIRST_KEYS("2") INGOT_ADD_LATER_KEYS
      "ldp q16, q17, [%[queries], #64]\n ldp q18, q19, [%[queries], #96]\n add %[queries], %[queries], #128\n"
      INGOT_LATER_KEYS("2") INGOT_ADD_FIRST_KEYS
      // Behind the last eight numbers the first ones are read once more.
      "add %[i], %[i], #16\n cmp %[i], %[end]\n csel %[i], xzr, %[i], eq\n"
      INGOT_FIRST_KEYS("") INGOT_ADD_LATER_KEYS
      "cbnz %[i], 1b\n"
      INGOT_JOIN("0", "0", "1") INGOT_JOIN("1", "2", "3") INGOT_JOIN("2", "4", "5") INGOT_JOIN("3", "6", "7")
      INGOT_JOIN("4", "8", "9") INGOT_JOIN("5", "10", "11") INGOT_JOIN("6", "12", "13") INGOT_JOIN("7", "14", "15")
      "stp q0, q1, [%[scores]]\n stp q2, q3, [%[scores], #32]\n"
      "stp q4, q5, [%[scores], #64]\n stp q6, q7, [%[scores], #96]\n"
      : [queries] "+r"(queries), [i] "+r"(i), [asked] "+r"(asked)
      : [row0] "r"(rows[0]), [row1] "r"(rows[1]), [row2] "r"(rows[2]), [row3] "r"(rows[3]), [row4] "r"(rows[4]),
        [row5] "r"(rows[5]), [row6] "r"(rows[6]), [row7] "r"(rows[7]), [end] "r"(2 * dimensions),
        [step] "r"(ahead.step), [far] "r"(ahead.far), [scores] "r"(scores)
      : INGOT_QUAD_CLOBBERS);
}

#define INGOT_VALUES(to0, to1, to2, to3) \
  "ldp q28, q29, [%[row]]\n" \
  INGOT_FLOATS("", to0, "28") INGOT_FLOATS("2", to1, "28") INGOT_FLOATS("", to2, "29") INGOT_FLOATS("2", to3, "29")
// One vector of values for four heads.
#define INGOT_ADD_VALUE(sum0, sum1, sum2, sum3, value, weights) \
  INGOT_ADD(sum0, value, weights, "0") INGOT_ADD(sum1, value, weights, "1") \
  INGOT_ADD(sum2, value, weights, "2") INGOT_ADD(sum3, value, weights, "3")
#define INGOT_ADD_THREE_VALUES(value0, value1, value2, weights) \
  INGOT_ADD_VALUE("0", "4", "8", "12", value0, weights) INGOT_ADD_VALUE("1", "5", "9", "13", value1, weights) \
  INGOT_ADD_VALUE("2", "6", "10", "14", value2, weights)
#define INGOT_ADD_LAST_VALUE(value, weights) INGOT_ADD_VALUE("3", "7", "11", "15", value, weights)
#define INGOT_ADD_VALUES(value0, value1, value2, value3, weights) \
  INGOT_ADD_THREE_VALUES(value0, value1, value2, weights) INGOT_ADD_LAST_VALUE(value3, weights)
#define INGOT_OUTPUTS(move) \
  move " q0, q1, [%[output0]]\n" move " q2, q3, [%[output0], #32]\n" \
  move " q4, q5, [%[output1]]\n" move " q6, q7, [%[output1], #32]\n" \
  move " q8, q9, [%[output2]]\n" move " q10, q11, [%[output2], #32]\n" \
  move " q12, q13, [%[output3]]\n" move " q14, q15, [%[output3], #32]\n"

// outputs [4][16] += weights [count][4] times 16 numbers of `count` rows, one or more, that lie `stride` bytes apart.
HWY_INLINE void mix_half_quad(const float* weights, const std::byte* row, std::int64_t stride, std::int64_t count,
                              const RowsAhead& ahead, float* outputs, std::int64_t width) {
  std::int64_t pairs = (count - 1) / 2;
  const std::byte* asked = ahead.near;
  __asm__ volatile(
      INGOT_OUTPUTS("ldp")
      "fmov v31.8h, #1.0\n"
      INGOT_VALUES("20", "21", "22", "23")
      "cbz %[pairs], 2f\n"
      ".p2align 5\n"
      "1:\n"
      "ldp q16, q17, [%[weights]], #32\n add %[row], %[row], %[stride]\n"
      INGOT_VALUES("24", "25", "26", "27") INGOT_ADD_THREE_VALUES("20", "21", "22", "16")
      INGOT_ASK
      INGOT_ADD_LAST_VALUE("23", "16")
      "add %[row], %[row], %[stride]\n subs %[pairs], %[pairs], #1\n"
      INGOT_VALUES("20", "21", "22", "23") INGOT_ADD_VALUES("24", "25", "26", "27", "17")
      "b.ne 1b\n"
      // One row is left, which has been read, and another where the count is even.
      "2:\n"
      "ldr q16, [%[weights]], #16\n"
      INGOT_ADD_VALUES("20", "21", "22", "23", "16")
      "tbnz %[count], #0, 3f\n"
      "ldr q16, [%[weights]]\n add %[row], %[row], %[stride]\n"
      INGOT_VALUES("24", "25", "26", "27") INGOT_ADD_VALUES("24", "25", "26", "27", "16")
      "3:\n"
      INGOT_OUTPUTS("stp")
      : [weights] "+r"(weights), [row] "+r"(row), [pairs] "+r"(pairs), [asked] "+r"(asked)
      : [stride] "r"(stride), [count] "r"(count), [step] "r"(ahead.step), [far] "r"(ahead.far), [output0] "r"(outputs),
        [output1] "r"(outputs + width), [output2] "r"(outputs + 2 * width), [output3] "r"(outputs + 3 * width)
      : INGOT_QUAD_CLOBBERS);
}

#undef INGOT_FLOATS
#undef INGOT_ADD
#undef INGOT_ASK
#undef INGOT_QUAD_CLOBBERS
#undef INGOT_KEYS
#undef INGOT_FIRST_KEYS
#undef INGOT_LATER_KEYS
#undef INGOT_TWO_KEYS
#undef INGOT_ADD_FIRST_KEYS
#undef INGOT_ADD_LATER_KEYS
#undef INGOT_CLEAR
#undef INGOT_JOIN
#undef INGOT_VALUES
#undef INGOT_ADD_VALUE
#undef INGOT_ADD_THREE_VALUES
#undef INGOT_ADD_LAST_VALUE
#undef INGOT_ADD_VALUES
#undef INGOT_OUTPUTS
// clang-format on
