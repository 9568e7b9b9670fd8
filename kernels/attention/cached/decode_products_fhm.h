// The products of single new tokens over f16 caches, rows of whole eights, with FMLAL, an instruction of its own
// feature: decode_simd.cc takes them for the row that asks for it.
//
// It multiplies halves: queries lie as such, in the same order as floats would, and behind them, at half of their room,
// what each head's scores are to be multiplied by (half_rows.h).
#pragma once

#include "kernels/attention/cached/decode_plan.h"

namespace ingot {

// For `count` floats of room.
inline float* factors_behind(float* queries, std::int64_t count) { return queries + count / 2; }
inline const float* factors_behind(const float* queries, std::int64_t count) { return queries + count / 2; }

// Four heads to a vector, as dot_quads and mix_quads.
DotTokens dot_quads_fhm;
MixTokens mix_quads_fhm;
// Heads in rows, as dot_head_group and mix_head_group.
DotTokens dot_heads_fhm;
MixTokens mix_heads_fhm;

}  // namespace ingot
