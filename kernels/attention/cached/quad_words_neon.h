// Words that the assembly of products with four query heads is written in (half_quads_neon-inl.h,
// coded_rows_neon-inl.h).
#pragma once

// clang-format off
#define INGOT_ADD(sum, vector, factors, lane) "fmla v" sum ".4s, v" vector ".4s, v" factors ".s[" lane "]\n"
#define INGOT_CLEAR(a, b, c, d) \
  "movi v" a ".2d, #0\n movi v" b ".2d, #0\n movi v" c ".2d, #0\n movi v" d ".2d, #0\n"
// Four heads take long enough to ask for a line twice: from memory, and a tile later into the first-level cache.
#define INGOT_ASK \
  "prfm pldl1keep, [%[asked]]\n prfm pldl2keep, [%[asked], %[far]]\n add %[asked], %[asked], %[step]\n"
#define INGOT_QUAD_CLOBBERS \
  "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", \
  "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc"

// 16 bytes of each of eight keys, and what operands name them.
#define INGOT_LOAD_KEYS \
  "ldr q0, [%[row0], %[i]]\n ldr q1, [%[row1], %[i]]\n ldr q2, [%[row2], %[i]]\n ldr q3, [%[row3], %[i]]\n" \
  "ldr q4, [%[row4], %[i]]\n ldr q5, [%[row5], %[i]]\n ldr q6, [%[row6], %[i]]\n ldr q7, [%[row7], %[i]]\n"
#define INGOT_KEY_ROWS \
  [row0] "r"(rows[0]), [row1] "r"(rows[1]), [row2] "r"(rows[2]), [row3] "r"(rows[3]), [row4] "r"(rows[4]), \
  [row5] "r"(rows[5]), [row6] "r"(rows[6]), [row7] "r"(rows[7])

// One vector of values for four heads, and the four vectors of 16 numbers: v0 to v15 hold sums.
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
#define INGOT_OUTPUT_ROWS \
  [output0] "r"(outputs), [output1] "r"(outputs + width), [output2] "r"(outputs + 2 * width), \
  [output3] "r"(outputs + 3 * width)
// clang-format on
