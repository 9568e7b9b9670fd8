// The two products of four query heads with rows of f16, written out in assembly: compilers neither place the next
// conversions ahead of this step's products nor load where it costs nothing. No guard and no attributes: included where
// FMLAL is allowed, inside a namespace, after arm_neon.h, decode_plan.h and quad_words_neon.h.
//
// Keys meet queries that are halves as well, and are read as they lie: 64 FMLAL for eight numbers of eight tokens, 18
// cycles of a Neoverse-V1 where its four pipes would need 16. Weights are floats, so values become floats by FMLAL, 0 +
// x 1, which is exact; zeros written by MOVI take no vector pipe. 16 multiply-adds and their 4 conversions, 5 cycles
// for 4 pipes, take 5.3. What it hangs on, each measured: conversions right behind the load they take (a load a step
// ahead: 6.7), loads of 16 bytes (of 8: 6.0), and rows found by adding a stride (by a table of pointers: 6.2).

// clang-format off
#define INGOT_FLOATS(half, to, from) "movi v" to ".2d, #0\n fmlal" half " v" to ".4s, v" from ".4h, v31.4h\n"

// Two numbers of a key, each with a sum of its own: one would not cover the latency. v0 to v7 hold eight numbers of
// each of eight keys, v8 to v11 two numbers of four queries each.
#define INGOT_KEY(even, odd, key, query, lane0, lane1) \
  "fmlal v" even ".4s, v" query ".4h, v" key ".h[" lane0 "]\n fmlal2 v" odd ".4s, v" query ".4h, v" key ".h[" lane1 "]\n"
#define INGOT_ADD_KEYS(query, lane0, lane1) \
  INGOT_KEY("16", "17", "0", query, lane0, lane1) INGOT_KEY("18", "19", "1", query, lane0, lane1) \
  INGOT_KEY("20", "21", "2", query, lane0, lane1) INGOT_KEY("22", "23", "3", query, lane0, lane1) \
  INGOT_KEY("24", "25", "4", query, lane0, lane1) INGOT_KEY("26", "27", "5", query, lane0, lane1) \
  INGOT_KEY("28", "29", "6", query, lane0, lane1) INGOT_KEY("30", "31", "7", query, lane0, lane1)
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
      INGOT_LOAD_KEYS
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
      : INGOT_KEY_ROWS, [end] "r"(2 * dimensions), [step] "r"(ahead.step), [far] "r"(ahead.far),
        [factors] "r"(factors), [scores] "r"(scores)
      : INGOT_QUAD_CLOBBERS);
}

#define INGOT_VALUES(to0, to1, to2, to3) \
  "ldp q28, q29, [%[row]]\n" \
  INGOT_FLOATS("", to0, "28") INGOT_FLOATS("2", to1, "28") INGOT_FLOATS("", to2, "29") INGOT_FLOATS("2", to3, "29")

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
      : [stride] "r"(stride), [count] "r"(count), [step] "r"(ahead.step), [far] "r"(ahead.far), INGOT_OUTPUT_ROWS
      : INGOT_QUAD_CLOBBERS);
}

#undef INGOT_FLOATS
#undef INGOT_KEY
#undef INGOT_ADD_KEYS
#undef INGOT_JOIN
#undef INGOT_VALUES
// clang-format on
