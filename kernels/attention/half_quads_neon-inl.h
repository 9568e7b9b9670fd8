// The two products of four query heads with rows of f16, written out in assembly: compilers neither place the next
// conversions ahead of this step's products nor load where it costs nothing. No guard and no attributes: included where
// FMLAL is allowed, inside a namespace, after arm_neon.h and decode_plan.h.
//
// Keys meet queries that are halves as well, and are read as they lie: 64 FMLAL for eight numbers of eight tokens, 18
// cycles of a Neoverse-V1 where its four pipes would need 16. Weights are floats, so values become floats by FMLAL, 0 +
// x 1, which is exact; zeros written by MOVI take no vector pipe. 16 multiply-adds and their 4 conversions, 5 cycles
// for 4 pipes, take 5.3. What it hangs on, each measured: conversions right behind the load they take (a load a step
// ahead: 6.7), loads of 16 bytes (of 8: 6.0), and rows found by adding a stride (by a table of pointers: 6.2).

// clang-format off
#define INGOT_FLOATS(half, to, from) "movi v" to ".2d, #0\n fmlal" half " v" to ".4s, v" from ".4h, v31.4h\n"
#define INGOT_ADD(sum, vector, factors, lane) "fmla v" sum ".4s, v" vector ".4s, v" factors ".s[" lane "]\n"
// Four heads take long enough to ask for a line twice: from memory, and a tile later into the first-level cache.
#define INGOT_ASK \
  "prfm pldl1keep, [%[asked]]\n prfm pldl2keep, [%[asked], %[far]]\n add %[asked], %[asked], %[step]\n"
#define INGOT_QUAD_CLOBBERS \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", \
  "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc"

// Two numbers of a key, each with a sum of its own: one would not cover the latency. v0 to v7 hold eight numbers of
// each of eight keys, v8 to v11 two numbers of four queries each.
#define INGOT_KEY(even, odd, key, query, lane0, lane1) \
  "fmlal v" even ".4s, v" query ".4h, v" key ".h[" lane0 "]\n fmlal2 v" odd ".4s, v" query ".4h, v" key ".h[" lane1 "]\n"
#define INGOT_ADD_KEYS(query, lane0, lane1) \
  INGOT_KEY("16", "17", "0", query, lane0, lane1) INGOT_KEY("18", "19", "1", query, lane0, lane1) \
  INGOT_KEY("20", "21", "2", query, lane0, lane1) INGOT_KEY("22", "23", "3", query, lane0, lane1) \
  INGOT_KEY("24", "25", "4", query, lane0, lane1) INGOT_KEY("26", "27", "5", query, lane0, lane1) \
  INGOT_KEY("28", "29", "6", query, lane0, lane1) INGOT_KEY("30", "31", "7", query, lane0, lane1)
#define INGOT_CLEAR(a, b, c, d) \
  "movi v" a ".2d, #0\n movi v" b ".2d, #0\n movi v" c ".2d, #0\n movi v" d ".2d, #0\n"
#define INGOT_JOIN(to, even, odd) "fadd v" to ".4s, v" even ".4s, v" odd ".4s\n fmul v" to ".4s, v" to ".4s, v8.4s\n"

// scores [8][4] of eight tokens; dimensions are whole eights. Queries are halves [dimension][4].
HWY_INLINE void dot_half_quad(const float* queries, const float* factors, const std::byte* const* rows,
                              std::int64_t dimensions, const RowsAhead& ahead, float* scores) {
  std::int64_t i = 0;  // bytes of a row
  const std::byte* asked = ahead.near;
  __asm__ volatile(
      INGOT_CLEAR("16", "17", "18", "19") INGOT_CLEAR("20", "21", "22", "23")
      INGOT_CLEAR("24", "25", "26", "27") INGOT_CLEAR("28", "29", "30", "31")
      ".p2align 5\n"
      "1:\n"
      "ldp q8, q9, [%[queries]]\n ldp q10, q11, [%[queries], #32]\n add %[queries], %[queries], #64\n"
      "ldr q0, [%[row0], %[i]]\n ldr q1, [%[row1], %[i]]\n ldr q2, [%[row2], %[i]]\n ldr q3, [%[row3], %[i]]\n"
      "ldr q4, [%[row4], %[i]]\n ldr q5, [%[row5], %[i]]\n ldr q6, [%[row6], %[i]]\n ldr q7, [%[row7], %[i]]\n"
      INGOT_ADD_KEYS("8", "0", "1")
      INGOT_ADD_KEYS("9", "2", "3")
      INGOT_ASK INGOT_ASK
      INGOT_ADD_KEYS("10", "4", "5")
      INGOT_ADD_KEYS("11", "6", "7")
      "add %[i], %[i], #16\n cmp %[i], %[end]\n b.ne 1b\n"
      "ldr q8, [%[factors]]\n"
      INGOT_JOIN("0", "16", "17") INGOT_JOIN("1", "18", "19") INGOT_JOIN("2", "20", "21") INGOT_JOIN("3", "22", "23")
      INGOT_JOIN("4", "24", "25") INGOT_JOIN("5", "26", "27") INGOT_JOIN("6", "28", "29") INGOT_JOIN("7", "30", "31")
      "stp q0, q1, [%[scores]]\n stp q2, q3, [%[scores], #32]\n"
      "stp q4, q5, [%[scores], #64]\n stp q6, q7, [%[scores], #96]\n"
      : [queries] "+r"(queries), [i] "+r"(i), [asked] "+r"(asked)
      : [row0] "r"(rows[0]), [row1] "r"(rows[1]), [row2] "r"(rows[2]), [row3] "r"(rows[3]), [row4] "r"(rows[4]),
        [row5] "r"(rows[5]), [row6] "r"(rows[6]), [row7] "r"(rows[7]), [end] "r"(2 * dimensions),
        [step] "r"(ahead.step), [far] "r"(ahead.far), [factors] "r"(factors), [scores] "r"(scores)
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
#undef INGOT_KEY
#undef INGOT_ADD_KEYS
#undef INGOT_CLEAR
#undef INGOT_JOIN
#undef INGOT_VALUES
#undef INGOT_ADD_VALUE
#undef INGOT_ADD_THREE_VALUES
#undef INGOT_ADD_LAST_VALUE
#undef INGOT_ADD_VALUES
#undef INGOT_OUTPUTS
// clang-format on
