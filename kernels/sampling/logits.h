// What all sampling operations share. They turn one row of logits per sequence into a token, at inference, so none has
// a gradient.
//
// Logits have shape [R, V], R sequences and V tokens. -inf is a token masked out: it is never kept or drawn. A NaN
// logit is read as -inf, so that one bad number cannot become the next token; a row without any candidate gives the
// token `no_token`, never an arbitrary one. +inf outweighs every finite logit.
#pragma once

#include "kernels/contract/contract.h"

namespace ingot::sampling {

inline constexpr std::int32_t no_token = -1;
inline constexpr std::string_view no_gradient =
    "sampling acts on finished logits; a chosen token does not vary continuously";

// [R, V] with 1 <= V < 2^31 and a packed last axis.
Result<void> require_logits(std::string_view operation, std::string_view number, const ConstAnyView& logits);
// One value a row, contiguous.
Result<void> require_per_row(std::string_view operation, std::string_view number, std::string_view field,
                             const ConstAnyView& view, const ConstAnyView& logits);

}  // namespace ingot::sampling
