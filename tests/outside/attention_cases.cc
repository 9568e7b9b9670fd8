// ONNX Attention and FlexAttention. What differs from attention.sdpa: heads may lie inside the last axis, past keys and
// values come apart from new ones, masks are flags or numbers and may be short, and each sequence may have padding.
#include <cmath>
#include <limits>

#include "kernels/activation/exponential_curves.h"
#include "kernels/attention/sdpa/sdpa.h"
#include "kernels/attention/softmax/softmax.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"
#include "kernels/layout/concat.h"
#include "kernels/linear/batched/matmul_batched.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// [B, S, H * D] to [B, H, S, D]; rank 4 stays.
HostTensor with_head_axis(const HostTensor& tensor, std::int64_t heads) {
  if (tensor.rank() == 4) return tensor;
  const Sizes split = {tensor.size(0), tensor.size(1), heads, tensor.size(2) / heads};
  return permuted(reshaped(tensor, split), {0, 2, 1, 3});
}

struct AttentionInputs {
  HostTensor q, k, v;                 // [B, H, S, D]
  HostTensor mask;                    // [B, Hq, Sq, Skv], what is added to the scores; no values where there is none
  std::vector<std::int64_t> lengths;  // keys of each sequence that are not padding
  std::int64_t past = 0;
  bool is_padded = false;
  bool is_causal = false;
  double scale = 1;
  double softcap = 0;

  // Where the first query stands among the keys of a sequence.
  std::int64_t offset(std::size_t batch) const { return is_padded ? lengths[batch] - q.size(2) : past; }
};

// Past keys before new ones, by Ingot's own concatenation.
HostTensor joined(Trial& trial, const HostTensor* past, const HostTensor& fresh) {
  if (past == nullptr) return fresh;
  Floats first(*past);
  Floats second(fresh);
  Sizes shape = fresh.shape;
  shape[2] += past->size(2);
  Floats y(shape);
  Concat::Arguments arguments;
  arguments.a = first.view();
  arguments.b = second.view();
  arguments.axis = 2;
  arguments.y = y.view();
  trial.run<Concat>(arguments);
  return y.host();
}

// Flags become 0 and -infinity; columns that are missing become -infinity.
Result<HostTensor> to_added_mask(const HostTensor& given, const Sizes& shape) {
  Sizes short_shape = shape;
  short_shape.back() = given.shape.back() == 1 ? shape.back() : given.shape.back();
  HostTensor mask = TRY(broadcast(given, short_shape));
  if (given.dtype == "bool") {
    for (double& value : mask.values) value = value != 0 ? 0 : minus_infinity;
  }
  if (mask.shape.back() >= shape.back()) return mask;
  Sizes missing = shape;
  missing.back() = shape.back() - mask.shape.back();
  const HostTensor hidden{mask.dtype, missing,
                          std::vector<double>(static_cast<std::size_t>(count_of(missing)), minus_infinity)};
  return concatenated(mask, hidden, 3);
}

Result<AttentionInputs> attention_inputs(const OnnxCase& onnx, Trial& trial) {
  AttentionInputs inputs;
  inputs.q = with_head_axis(onnx.required(0), onnx.integer("q_num_heads", 1));
  const std::int64_t key_heads = onnx.integer("kv_num_heads", 1);
  inputs.past = onnx.input(4) == nullptr ? 0 : onnx.required(4).size(2);
  inputs.k = joined(trial, onnx.input(4), with_head_axis(onnx.required(1), key_heads));
  inputs.v = joined(trial, onnx.input(5), with_head_axis(onnx.required(2), key_heads));
  const Sizes scores = {inputs.q.size(0), inputs.q.size(1), inputs.q.size(2), inputs.k.size(2)};
  if (onnx.input(3) != nullptr) inputs.mask = TRY(to_added_mask(onnx.required(3), scores));
  inputs.lengths.assign(static_cast<std::size_t>(scores[0]), scores[3]);
  if (const HostTensor* lengths = onnx.input(6); lengths != nullptr) {
    inputs.is_padded = true;
    for (std::size_t batch = 0; batch < inputs.lengths.size(); ++batch) {
      inputs.lengths[batch] = static_cast<std::int64_t>(lengths->values.at(batch));
    }
  }
  inputs.is_causal = onnx.integer("is_causal", 0) != 0;
  inputs.scale = onnx.number("scale", 1 / std::sqrt(static_cast<double>(inputs.q.size(3))));
  inputs.softcap = onnx.number("softcap", 0);
  return inputs;
}

// Sequence by sequence, because padding gives each its own number of keys.
template <class Op>
HostTensor attend(Trial& trial, const AttentionInputs& inputs) {
  Floats q(inputs.q);
  Floats k(inputs.k);
  Floats v(inputs.v);
  Floats mask(inputs.mask);
  Floats y(Sizes{inputs.q.size(0), inputs.q.size(1), inputs.q.size(2), inputs.v.size(3)});
  for (std::int64_t batch = 0; batch < inputs.q.size(0); ++batch) {
    const std::int64_t keys = inputs.lengths[static_cast<std::size_t>(batch)];
    auto sequence = [batch](const View<float>& view) { return view.slice(0, batch, batch + 1); };
    SdpaArguments arguments;
    arguments.q = sequence(q.view()).value();
    Result<View<float>> keys_seen = sequence(k.view()).value().slice(2, 0, keys);
    Result<View<float>> values_seen = sequence(v.view()).value().slice(2, 0, keys);
    if (!keys_seen.ok()) {
      trial.fail(std::string(keys_seen.error().text()));
      break;
    }
    arguments.k = keys_seen.value();
    arguments.v = values_seen.value();
    if (!inputs.mask.values.empty()) arguments.mask = sequence(mask.view()).value().slice(3, 0, keys).value();
    arguments.scale = static_cast<float>(inputs.scale);
    arguments.softcap = static_cast<float>(inputs.softcap);
    arguments.mask_kind = inputs.is_causal ? MaskKind::causal : MaskKind::full;
    arguments.query_offset = inputs.is_causal ? inputs.offset(static_cast<std::size_t>(batch)) : 0;
    arguments.y = sequence(y.view()).value();
    trial.run<Op>(arguments);
  }
  return y.host();
}

// The mask with causality and padding in it, as ONNX adds it to the scores.
HostTensor whole_mask(const AttentionInputs& inputs) {
  HostTensor mask = inputs.mask;
  const Sizes shape = {inputs.q.size(0), inputs.q.size(1), inputs.q.size(2), inputs.k.size(2)};
  if (mask.values.empty()) mask = {"f32", shape, std::vector<double>(static_cast<std::size_t>(count_of(shape)), 0.0)};
  for (std::int64_t index = 0; index < mask.count(); ++index) {
    const std::int64_t key = index % shape[3];
    const std::int64_t query = index / shape[3] % shape[2];
    const auto batch = static_cast<std::size_t>(index / (shape[3] * shape[2] * shape[1]));
    const bool is_future = inputs.is_causal && key > query + inputs.offset(batch);
    if (is_future || key >= inputs.lengths[batch]) mask.values[static_cast<std::size_t>(index)] = minus_infinity;
  }
  return mask;
}

// The fourth output: the scores after the product (0), the soft cap (1), the mask (2), or the softmax (3).
std::vector<double> scores_at(Trial& trial, const AttentionInputs& inputs, std::int64_t mode) {
  const std::int64_t rows = inputs.q.size(0) * inputs.q.size(1);
  const Sizes grouped = {inputs.k.size(0), inputs.k.size(1), 1, inputs.k.size(2), inputs.k.size(3)};
  Sizes repeated = grouped;
  repeated[2] = inputs.q.size(1) / inputs.k.size(1);
  const HostTensor keys = broadcast(reshaped(inputs.k, grouped), repeated).value();
  Floats a(reshaped(inputs.q, {rows, inputs.q.size(2), inputs.q.size(3)}));
  Floats b(reshaped(keys, {rows, inputs.k.size(2), inputs.k.size(3)}));
  const Sizes shape = {rows, inputs.q.size(2), inputs.k.size(2)};
  Floats scores(shape);
  trial.run<MatmulBatched>({.a = a.view(), .b = b.view(), .transpose_b = true, .y = scores.view()});
  auto scale = [&](double factor) {
    trial.run<Scale>({.x = scores.view(), .factor = static_cast<float>(factor), .y = scores.view()});
  };
  scale(inputs.scale);
  if (mode == 0) return scores.values();
  if (inputs.softcap > 0) {
    scale(1 / inputs.softcap);
    UnaryActivation<Tanh>::Arguments bend;
    bend.x = scores.view();
    bend.y = scores.view();
    trial.run<UnaryActivation<Tanh>>(bend);
    scale(inputs.softcap);
  }
  if (mode == 1) return scores.values();
  Floats mask(reshaped(whole_mask(inputs), shape));
  if (mode == 2) {
    trial.run<Add>({.a = scores.view(), .b = mask.view(), .y = scores.view()});
    return scores.values();
  }
  Floats weights(shape);
  Softmax::Arguments softmax;
  softmax.x = scores.view();
  softmax.mask = mask.view();
  softmax.y = weights.view();
  trial.run<Softmax>(softmax);
  return weights.values();
}

std::vector<double> in_layout_of(const HostTensor& query, const HostTensor& y) {
  return query.rank() == 4 ? y.values : permuted(y, {0, 2, 1, 3}).values;
}

void attention(const OnnxCase& onnx, Trial& trial) {
  const Result<AttentionInputs> made = attention_inputs(onnx, trial);
  if (!made.ok()) return trial.fail(std::string(made.error().text()));
  const AttentionInputs& inputs = made.value();
  trial.expect(0, in_layout_of(onnx.required(0), attend<Sdpa>(trial, inputs)));
  trial.expect(0, in_layout_of(onnx.required(0), attend<Streaming>(trial, inputs)));
  trial.expect(1, inputs.k.values);
  trial.expect(2, inputs.v.values);
  if (onnx.output(3) != nullptr) trial.expect(3, scores_at(trial, inputs, onnx.integer("qk_matmul_output_mode", 0)));
}

void flex_attention(const OnnxCase& onnx, Trial& trial) {
  for (const char* graph : {"score_mod", "mask_mod", "prob_mod"}) {
    if (onnx.has(graph)) return trial.not_applicable("the case does not hold the graph of " + std::string(graph));
  }
  const Result<AttentionInputs> made = attention_inputs(onnx, trial);
  if (!made.ok()) return trial.fail(std::string(made.error().text()));
  trial.expect(0, attend<Sdpa>(trial, made.value()).values);
  trial.expect(0, attend<Streaming>(trial, made.value()).values);
}

}  // namespace

std::span<const Adapter> attention_adapters() {
  static constexpr Adapter adapters[] = {
      {"Attention", attention},
      {"FlexAttention", flex_attention},
  };
  return adapters;
}

}  // namespace ingot::outside
