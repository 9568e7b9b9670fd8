// The products of single new tokens over q8_0 caches with SDOT and FMLAL, instructions of features of their own:
// decode_simd.cc takes them for the row that asks for both.
//
// Queries lie as the codes that the contract makes of them, [head][number], or [quad][number / 4][4 heads][4], and
// behind them, at half of their room, their scales, [block] or [block][4 heads].
#pragma once

#include "kernels/attention/cached/decode_products_fhm.h"

namespace ingot {

// Four heads to a vector, as dot_quads and mix_quads.
DotTokens dot_quads_coded;
MixTokens mix_quads_coded;
// Heads in rows, as dot_head_group and mix_head_group.
DotTokens dot_heads_coded;
MixTokens mix_heads_coded;

}  // namespace ingot
