// The products of single new tokens over f16 caches, rows of whole eights, with FMLAL, an instruction of its own
// feature: decode_simd.cc takes them for the row that asks for it.
#pragma once

#include "kernels/attention/decode_plan.h"

namespace ingot {

// Four heads to a vector, as dot_quads and mix_quads.
void dot_quads_fhm(const float* queries, std::int64_t quads, std::int64_t width, const TokenRows& keys,
                   const ComingRows& next, float* scores);
void mix_quads_fhm(const float* weights, std::int64_t quads, const TokenRows& values, const ComingRows& next,
                   float* outputs, std::int64_t width);
// Heads in rows, as dot_group and mix_group.
void dot_heads_fhm(const float* queries, std::int64_t heads, std::int64_t width, const TokenRows& keys,
                   const ComingRows& next, float* scores);
void mix_heads_fhm(const float* weights, std::int64_t heads, const TokenRows& values, const ComingRows& next,
                   float* outputs, std::int64_t width);

}  // namespace ingot
