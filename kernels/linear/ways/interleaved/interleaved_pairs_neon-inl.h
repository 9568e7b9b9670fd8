// Steps of the loops in q4_0_pairs_neon-inl.h and q8_0_pairs_neon-inl.h, which multiply pairs of rows of x
// (pairs_of_x_neon-inl.h): part of a source, after that.
//
// Integers are multiplied with the scale of x first, which is the same for all rows of weights. Scales of x are rounded
// to 22 bits before that, one more rounding of a float. For the product with the start to stay in range a row's scales
// are multiplied with a power of two, which brings their largest to 1 or more and below 2, and its sums in the end with
// the inverse.

// clang-format off
#define INGOT_LOAD(to, from, at) "ldr q" #to ", [%[" #from "], #" #at "]\n"
#define INGOT_ZIP1(to, a, b) "zip1 v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_ZIP2(to, a, b) "zip2 v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_LOW(to, bytes) "and v" #to ".16b, v" #bytes ".16b, v31.16b\n"
#define INGOT_HIGH(to, bytes) "ushr v" #to ".16b, v" #bytes ".16b, #4\n"
#define INGOT_MULTIPLY(to, w, x) "smmla v" #to ".4s, v" #w ".16b, v" #x ".16b\n"
#define INGOT_ADD(to, a, b) "fmla v" #to ".4s, v" #a ".4s, v" #b ".4s\n"
#define INGOT_WIDEN_LOW(to, halves) "fcvtl v" #to ".4s, v" #halves ".4h\n"
#define INGOT_WIDEN_HIGH(to, halves) "fcvtl2 v" #to ".4s, v" #halves ".8h\n"
// The memory is asked early: weights pass through the cache, x is to stay there.
#define INGOT_ASK(from, at) "prfm pldl1strm, [%[" #from "], #" #at "]\n"
#define INGOT_KEEP(from, at) "prfm pldl1keep, [%[" #from "], #" #at "]\n"
// n0 and n1 go on to the next block, where there is one.
#define INGOT_STEP(bytes) "mov %[step], #" #bytes "\n" "cmp %[left], #1\n" "csel %[step], %[step], xzr, gt\n"
#define INGOT_NEXT_ONE(bytes) INGOT_STEP(bytes) "add %[n0], %[n0], %[step]\n"
#define INGOT_NEXT_TWO(bytes) INGOT_NEXT_ONE(bytes) "add %[n1], %[n1], %[step]\n"
#define INGOT_ADVANCE_X(bytes) "sub %[left], %[left], #1\n" "add %[x], %[x], #" #bytes "\n" "mov %[w0], %[n0]\n"
#define INGOT_ADVANCE_ONE(bytes, of_x) INGOT_ADVANCE_X(of_x) INGOT_NEXT_ONE(bytes)
#define INGOT_ADVANCE_TWO(bytes, of_x) INGOT_ADVANCE_X(of_x) "mov %[w1], %[n1]\n" INGOT_NEXT_TWO(bytes)
#define INGOT_STORE(one, other, at) "stp q" #one ", q" #other ", [%[totals], #" #at "]\n"
#define INGOT_CLEAR \
  ".irp register, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n" \
  "movi v\\register\\().2d, #0\n" ".endr\n"
// clang-format on
