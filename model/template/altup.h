// Alternating updates: a token is several vectors, streams, of which a layer computes the first and guesses the others.
//
//   opened     s_0 = x;  s_i = altup_i x, as long as x
//   predicted  p_i = s_i + sum_j (predict m(s_0))_ij s_j,  m(x) = tanh(router(rms_norm(x)) / width)
//   corrected  s_i = p_i + (b - p_0) (1 + (correct m(b))_i), b being what the layer made of p_0
//   closed     the mean of s_0 and of unembd_i s_i, as long as s_0
//
// Lengths are roots of mean squares.
#pragma once

#include "model/template/layers.h"

namespace ingot {

struct AltUp {
  std::int64_t streams = 0;
  std::int64_t width = 0;
  double epsilon = 1e-6;  // of the router's norm

  // One of x [tokens, streams, width], as rows.
  Operand stream(CircuitBuilder& builder, const Operand& x, std::int64_t index) const;
  Operand opened(CircuitBuilder& builder, const Operand& x) const;
  Operand predicted(CircuitBuilder& builder, const Operand& x) const;
  Operand corrected(CircuitBuilder& builder, const Operand& predictions, const Operand& made) const;
  Operand closed(CircuitBuilder& builder, const Operand& x) const;
};

// [rows, 1]; `least` bounds the mean square from below.
Operand row_lengths(CircuitBuilder& builder, const std::string& makes, const Operand& x, double least = 0);

}  // namespace ingot
