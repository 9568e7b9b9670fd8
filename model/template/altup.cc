#include "model/template/altup.h"

#include <limits>

namespace ingot {
namespace {

constexpr double least_square = 1e-5;  // a vector's mean square, where it is made as long as another

// x by one of the matrices of a stack, as long as `length` says, into y.
void project_to_length(CircuitBuilder& builder, const AltUp& altup, const std::string& makes, const Operand& x,
                       std::string_view stack, std::int64_t index, const Operand& length, const Operand& y) {
  const std::int64_t width = altup.width;
  const Operand matrices = builder.weight(stack, {altup.streams - 1, width, width});
  const Operand projected = builder.activation(makes + "_projected", {builder.tokens(), width});
  builder.call("linear.matmul", makes + "_projected",
               {{"x", x},
                {"weights", builder.reshaped(builder.sliced(matrices, 0, index, index + 1), {width, width})},
                {"y", projected}});
  const Operand longer = multiplied(builder, makes + "_longer", projected, length);
  const Operand own_length = row_lengths(builder, makes + "_length", projected, least_square);
  builder.call("elementwise.div", makes, {{"a", longer}, {"b", own_length}, {"y", y}});
}

// tanh of the router: [tokens, streams].
Operand modalities(CircuitBuilder& builder, const AltUp& altup, const std::string& makes, const Operand& x) {
  const Operand normed = rms_norm(builder, makes + "_norm", x, "altup_router_norm", altup.epsilon);
  const Operand small = scaled(builder, makes + "_scaled", normed, 1 / static_cast<double>(altup.width));
  return curve(builder, "activation.tanh", makes,
               linear(builder, makes + "_router", small, "altup_router", altup.streams));
}

// Rows of a [tokens, n, k] by rows of b [tokens, k, width], of each token by itself.
Operand multiplied_by_token(CircuitBuilder& builder, std::string_view makes, const Operand& a, const Operand& b) {
  const Operand y = builder.activation(makes, {a.shape[0], a.shape[1], b.shape[2]});
  builder.call("linear.matmul_batched", makes, {{"a", a}, {"b", b}, {"y", y}});
  return y;
}

}  // namespace

Operand row_lengths(CircuitBuilder& builder, const std::string& makes, const Operand& x, double least) {
  const Operand squares = builder.activation(makes + "_squares", {x.shape[0]});
  builder.call("elementwise.sum_of_squares", makes + "_squares", {{"x", x}, {"y", squares}});
  Operand mean = scaled(builder, makes + "_mean", squares, 1 / static_cast<double>(x.shape.last()));
  if (least > 0) {
    const Operand bounded = builder.activation(makes + "_bounded", mean.shape);
    builder.call("elementwise.clamp", makes + "_bounded", {{"x", mean}, {"y", bounded}},
                 {{"low", least}, {"high", std::numeric_limits<double>::infinity()}});
    mean = bounded;
  }
  return builder.reshaped(curve(builder, "elementwise.sqrt", makes, mean), {x.shape[0], 1});
}

Operand AltUp::stream(CircuitBuilder& builder, const Operand& x, std::int64_t index) const {
  return builder.reshaped(builder.sliced(x, 1, index, index + 1), {builder.tokens(), width});
}

Operand AltUp::opened(CircuitBuilder& builder, const Operand& x) const {
  const Operand all = builder.activation("altup_streams", {builder.tokens(), streams, width});
  builder.call("layout.copy", "altup_first", {{"x", x}, {"y", stream(builder, all, 0)}});
  const Operand length = row_lengths(builder, "altup_length", x);
  for (std::int64_t index = 1; index < streams; ++index) {
    project_to_length(builder, *this, "altup_" + std::to_string(index), x, "altup_proj.weight", index - 1, length,
                      stream(builder, all, index));
  }
  return all;
}

Operand AltUp::predicted(CircuitBuilder& builder, const Operand& x) const {
  const Operand routed = modalities(builder, *this, "altup_modalities", stream(builder, x, 0));
  const Operand shares = builder.reshaped(linear(builder, "altup_predict_coef", routed, streams * streams),
                                          {builder.tokens(), streams, streams});
  return residual_add(builder, "altup_predictions", multiplied_by_token(builder, "altup_mixed", shares, x), x);
}

Operand AltUp::corrected(CircuitBuilder& builder, const Operand& predictions, const Operand& made) const {
  const Operand routed = modalities(builder, *this, "altup_made", made);
  const Operand difference = builder.activation("altup_difference", made.shape);
  builder.call("elementwise.sub", "altup_difference",
               {{"a", made}, {"b", stream(builder, predictions, 0)}, {"y", difference}});
  const Operand of_token = builder.reshaped(difference, {builder.tokens(), 1, width});
  const Operand shares =
      builder.reshaped(linear(builder, "altup_correct_coef", routed, streams), {builder.tokens(), streams, 1});
  const Operand spread = multiplied_by_token(builder, "altup_spread", shares, of_token);
  const Operand whole = builder.activation("altup_whole", spread.shape);
  builder.call("elementwise.add", "altup_whole", {{"a", spread}, {"b", of_token}, {"y", whole}});
  return residual_add(builder, "altup_corrected", whole, predictions);
}

Operand AltUp::closed(CircuitBuilder& builder, const Operand& x) const {
  Operand sum = stream(builder, x, 0);
  const Operand length = row_lengths(builder, "unembd_length", sum);
  for (std::int64_t index = 1; index < streams; ++index) {
    const std::string makes = "unembd_" + std::to_string(index);
    const Operand one = builder.activation(makes, {builder.tokens(), width});
    project_to_length(builder, *this, makes, stream(builder, x, index), "altup_unembd_proj.weight", index - 1, length,
                      one);
    sum = residual_add(builder, makes + "_sum", one, sum);
  }
  return scaled(builder, "unembd_mean", sum, 1 / static_cast<double>(streams));
}

}  // namespace ingot
