// ONNX nodes that carry a state from call to call.
#include <cmath>

#include "kernels/state/causal_conv1d.h"
#include "kernels/state/gated_delta_net.h"
#include "kernels/state/linear_attention.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

void causal_convolution(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& input = onnx.required(0);
  if (input.rank() != 3) return trial.not_applicable("Ingot's causal convolution runs over one axis of time");
  const HostTensor& kernel = onnx.required(1);  // [C, 1, K]
  const std::int64_t taps = kernel.shape.back();
  const std::string activation = onnx.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return trial.fail("expected activation none, silu or swish, found " + activation);
  }
  Floats x(input);
  Floats weights(reshaped(kernel, {kernel.size(0), taps}));
  Floats bias(onnx.input(2));
  Floats past(onnx.input(3));
  Floats y(input.shape);
  Floats present(Sizes{input.size(0), input.size(1), taps - 1});
  trial.run<CausalConv1d>(
      {.x = x.view(),
       .weights = weights.view(),
       .bias = bias.view(),
       .initial_state = past.view(),
       .activation = activation == "none" ? ConvolutionActivation::none : ConvolutionActivation::silu,
       .y = y.view(),
       .final_state = present.view()});
  trial.expect(0, y.values());
  trial.expect(1, present.values());
}

// [B, T, heads * width] to [B, T, heads, width].
Floats split_heads(const HostTensor& tensor, std::int64_t heads) {
  return Floats(reshaped(tensor, {tensor.size(0), tensor.size(1), heads, tensor.size(2) / heads}));
}

template <class Op>
void run_linear_attention(Trial& trial, typename Op::Arguments arguments, const Sizes& output, const Sizes& state) {
  Floats y(output);
  Floats present(state);
  arguments.y = y.view();
  arguments.final_state = present.view();
  trial.run<Op>(arguments);
  trial.expect(0, y.values());
  trial.expect(1, present.values());
}

void linear_attention(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& q = onnx.required(0);
  if (q.rank() != 3) return trial.fail("expected a query of rank 3, found another");
  const std::int64_t query_heads = onnx.integer("q_num_heads", 1);
  const std::int64_t heads = onnx.integer("kv_num_heads", 1);
  const std::string rule = onnx.text("update_rule", "gated_delta");
  const bool uses_decay = rule == "gated" || rule == "gated_delta";
  const bool uses_beta = rule == "delta" || rule == "gated_delta";

  Floats query = split_heads(q, query_heads);
  Floats value = split_heads(onnx.required(2), heads);
  const std::int64_t key_width = q.size(2) / query_heads;
  Floats key = split_heads(onnx.required(1), onnx.required(1).size(2) / key_width);
  Floats past(onnx.input(3));
  Floats decay;
  bool is_scalar_decay = true;
  if (uses_decay && onnx.input(4) != nullptr) {
    is_scalar_decay = onnx.required(4).size(2) == heads && key_width != 1;
    decay = is_scalar_decay ? Floats(onnx.required(4)) : split_heads(onnx.required(4), heads);
  }
  Floats beta;
  if (uses_beta && onnx.input(5) != nullptr) {
    const Result<HostTensor> repeated = broadcast(onnx.required(5), {q.size(0), q.size(1), heads});
    if (!repeated.ok()) return trial.fail(std::string(repeated.error().text()));
    beta = Floats(repeated.value());
  }
  const double default_scale = 1 / std::sqrt(static_cast<double>(key_width));
  const double given = onnx.number("scale", 0);
  const std::int64_t value_width = onnx.required(2).size(2) / heads;
  const Sizes output = {q.size(0), q.size(1), std::max(query_heads, heads), value_width};
  const Sizes state = {q.size(0), heads, key_width, value_width};

  LinearAttention::Arguments arguments;
  arguments.query = query.view();
  arguments.key = key.view();
  arguments.value = value.view();
  arguments.decay = decay.view();
  arguments.beta = beta.view();
  arguments.initial_state = past.view();
  arguments.scale = static_cast<float>(given == 0 ? default_scale : given);
  run_linear_attention<LinearAttention>(trial, arguments, output, state);
  // The gated delta rule with one decay a head has an operation of its own.
  if (rule == "gated_delta" && is_scalar_decay && query_heads <= heads && is_present(arguments.decay)) {
    GatedDeltaNet::Arguments gated;
    gated.query = arguments.query;
    gated.key = arguments.key;
    gated.value = arguments.value;
    gated.decay = arguments.decay;
    gated.beta = arguments.beta;
    gated.initial_state = arguments.initial_state;
    gated.scale = arguments.scale;
    if (arguments.query.shape() == arguments.key.shape())
      run_linear_attention<GatedDeltaNet>(trial, gated, output, state);
  }
}

}  // namespace

std::span<const Adapter> state_adapters() {
  static constexpr Adapter adapters[] = {
      {"CausalConvWithState", causal_convolution},
      {"LinearAttention", linear_attention},
  };
  return adapters;
}

}  // namespace ingot::outside
