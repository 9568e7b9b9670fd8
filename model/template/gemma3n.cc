// Gemma 3n (text). A token is several vectors, streams, of which every layer computes one and guesses the others:
//
//   s_0 = sqrt(width) embedding;  s_i = altup_i s_0, as long as s_0
//   p_i = s_i + sum_j (predict m(s_0))_ij s_j,                       m(x) = tanh(router(rms_norm(x)) / width)
//   a   = (p_0 + post_norm(o(attention(...n))) + n + laurel_norm(r(l(n)))) / sqrt(2),  n = rms_norm(p_0)
//   b   = a + post_norm(down(gelu(sparse(gate(n))) up(n))),          n = rms_norm(a)
//   s_i = p_i + (b - p_0) (1 + (correct m(b))_i), and but for i = 0  + post_norm(proj(gelu(inp_gate(c s_0)) e))
//
// with e a part of the token's second embedding, of which every layer has its own. In the end the mean of the streams,
// projected and as long as s_0, goes to the head. The last layers take keys and values of the last layer of their kind
// that has its own.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/template/altup.h"
#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"
#include "model/template/state_space.h"

namespace ingot {
namespace {

constexpr std::string_view name = "gemma3n";
constexpr std::int64_t most_streams = 64;

struct Gemma3nNumbers : DecoderNumbers {
  std::vector<bool> slides;      // by layer
  std::vector<double> sparsity;  // deviations above the mean from which on a gate counts; -infinity: it always does
  Rotation window_rotation;
  std::int64_t streams = 0;
  std::int64_t own_width = 0;  // of each layer's part of the second embedding
  std::int64_t own_rows = 0;   // tokens that have one
  std::int64_t own_key_layers = 0;
  std::int64_t laurel_rank = 0;
};

class Gemma3nTemplate : public Template {
 public:
  explicit Gemma3nTemplate(Gemma3nNumbers numbers) : numbers_(std::move(numbers)), facts_(facts_of(numbers_, name)) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const Gemma3nNumbers& n = numbers_;
    const PassOperands inputs(builder);
    const Operand rows = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    const Operand first = scaled(builder, "embedding_scaled", rows, std::sqrt(static_cast<double>(n.width)));
    const Operand own = own_inputs(builder, inputs, first);
    const AltUp altup = {n.streams, n.width, n.epsilon};
    Operand streams = altup.opened(builder, first);
    SharedHeads shared;
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand predictions = altup.predicted(builder, streams);
      const Operand active = altup.stream(builder, predictions, 0);
      const Operand mixed = attention_and_laurel(builder, inputs, active, layer, shared);
      const Operand corrected = altup.corrected(builder, predictions, feed_forward_of(builder, mixed, layer));
      streams =
          with_own_input(builder, altup, corrected,
                         builder.reshaped(builder.sliced(own, 1, layer, layer + 1), {builder.tokens(), n.own_width}));
    }
    builder.end_layers();
    language_head(builder, inputs, altup.closed(builder, streams), n);
  }

 private:
  // Keys and values of the last layer of each kind that has its own, by whether it slides.
  using SharedHeads = std::array<HeadOperands, 2>;

  // Every layer's part of the second embedding, with one of the first: [tokens, layers, own width].
  Operand own_inputs(CircuitBuilder& builder, const PassOperands& inputs, const Operand& first) const {
    const Gemma3nNumbers& n = numbers_;
    const std::int64_t width = n.layers * n.own_width;
    const Shape shape = {builder.tokens(), n.layers, n.own_width};
    const Operand rows =
        embedding(builder, "own_rows", inputs.tokens, "per_layer_token_embd.weight", n.own_rows, width);
    const Operand looked_up = scaled(builder, "own_rows_scaled", rows, std::sqrt(static_cast<double>(n.own_width)));
    const Operand projected = scaled(builder, "own_projected", linear(builder, "per_layer_model_proj", first, width),
                                     1 / std::sqrt(static_cast<double>(n.width)));
    const Operand normed =
        rms_norm(builder, "own_normed", builder.reshaped(projected, shape), "per_layer_proj_norm", n.epsilon);
    const Operand sum = residual_add(builder, "own_sum", normed, builder.reshaped(looked_up, shape));
    return scaled(builder, "own_inputs", sum, 1 / std::sqrt(2.0));
  }

  // The layer's own input comes to all streams but the first.
  Operand with_own_input(CircuitBuilder& builder, const AltUp& altup, const Operand& corrected,
                         const Operand& own) const {
    const Gemma3nNumbers& n = numbers_;
    const Operand weighed = multiplied(builder, "own_weighed", altup.stream(builder, corrected, 0),
                                       builder.weight("altup_correct_scale.weight", {n.width}));
    const Operand gate = curve(builder, "activation.gelu_tanh", "own_act",
                               linear(builder, "own_gate", weighed, "inp_gate", n.own_width));
    const Operand gated = multiplied(builder, "own_gated", gate, own);
    const Operand normed =
        rms_norm(builder, "own_norm", linear(builder, "own_out", gated, "proj", n.width), "post_norm", n.epsilon);
    const Operand y = builder.activation("altup_out", corrected.shape);
    builder.call("layout.copy", "altup_out_first",
                 {{"x", altup.stream(builder, corrected, 0)}, {"y", altup.stream(builder, y, 0)}});
    builder.call("elementwise.add", "altup_out",
                 {{"a", builder.sliced(corrected, 1, 1, n.streams)},
                  {"b", builder.reshaped(normed, {builder.tokens(), 1, n.width})},
                  {"y", builder.sliced(y, 1, 1, n.streams)}});
    return y;
  }

  Operand attention_and_laurel(CircuitBuilder& builder, const PassOperands& inputs, const Operand& active, int layer,
                               SharedHeads& shared) const {
    const Gemma3nNumbers& n = numbers_;
    const Operand normed = rms_norm(builder, "attn_norm", active, "attn_norm", n.epsilon);
    const Operand low = linear(builder, "laurel_l", normed, n.laurel_rank);
    const Operand laurel =
        rms_norm(builder, "laurel_post_norm", linear(builder, "laurel_r", low, n.width), "laurel_post_norm", n.epsilon);
    const Operand beside = residual_add(builder, "laurel", laurel, normed);
    const Operand attended = rms_norm(builder, "post_attention_norm", attention(builder, inputs, normed, layer, shared),
                                      "post_attention_norm", n.epsilon);
    const Operand gated = residual_add(builder, "attn_gated", attended, active);
    return scaled(builder, "attn_laurel", residual_add(builder, "attn_laurel_sum", beside, gated), 1 / std::sqrt(2.0));
  }

  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x, int layer,
                    SharedHeads& shared) const {
    const Gemma3nNumbers& n = numbers_;
    const bool slides = n.slides[static_cast<std::size_t>(layer)];
    const Rotation& rotation = slides ? n.window_rotation : n.rotation;
    const std::int64_t tokens = builder.tokens();
    HeadOperands& of_kind = shared[slides ? 1 : 0];
    if (layer < n.own_key_layers) {
      const HeadOperands heads = project_heads(builder, x, n);
      const Operand k = rms_norm(builder, "attn_k_norm", heads.k, "attn_k_norm", n.epsilon);
      of_kind = {heads.q, rotated(builder, "rope_k", k, inputs.positions, rotation),
                 unit_rms(builder, "attn_v_norm", heads.v, n.epsilon)};
    } else {
      const Operand q = linear(builder, "attn_q", x, n.heads * n.key_dimensions);
      of_kind.q = builder.reshaped(q, {tokens, n.heads, n.key_dimensions});
    }
    const Operand q = rms_norm(builder, "attn_q_norm", of_kind.q, "attn_q_norm", n.epsilon);
    Attention attention = attention_of(n, slides);
    attention.scale = 1;
    return attention_of_unturned_heads(
        builder, {rotated(builder, "rope_q", q, inputs.positions, rotation), of_kind.k, of_kind.v}, n, attention);
  }

  Operand feed_forward_of(CircuitBuilder& builder, const Operand& h, int layer) const {
    const Gemma3nNumbers& n = numbers_;
    const Operand normed = rms_norm(builder, "ffn_norm", h, "ffn_norm", n.epsilon);
    const Operand gate = linear(builder, "ffn_gate", normed, n.hidden);
    const Operand up = linear(builder, "ffn_up", normed, n.hidden);
    const Operand kept = sparse(builder, gate, n.sparsity[static_cast<std::size_t>(layer)]);
    const Operand gated = multiplied(builder, "ffn_gated", curve(builder, "activation.gelu_tanh", "ffn_act", kept), up);
    const Operand down = linear(builder, "ffn_down", gated, n.width);
    return residual_add(builder, "ffn_residual", rms_norm(builder, "post_ffw_norm", down, "post_ffw_norm", n.epsilon),
                        h);
  }

  // What lies above the mean by so many deviations, and 0 elsewhere.
  static Operand sparse(CircuitBuilder& builder, const Operand& x, double deviations) {
    if (std::isinf(deviations)) return x;
    const Operand mean = builder.activation("ffn_mean", {x.shape[0]});
    builder.call("elementwise.mean", "ffn_mean", {{"x", x}, {"y", mean}});
    const Operand centred = builder.activation("ffn_centred", x.shape);
    builder.call("elementwise.sub", "ffn_centred",
                 {{"a", x}, {"b", builder.reshaped(mean, {x.shape[0], 1})}, {"y", centred}});
    const Operand cutoff = scaled(builder, "ffn_cutoff", row_lengths(builder, "ffn_deviation", centred), deviations);
    const Operand above = builder.activation("ffn_above", x.shape);
    builder.call("elementwise.sub", "ffn_above", {{"a", centred}, {"b", cutoff}, {"y", above}});
    return curve(builder, "activation.relu", "ffn_sparse", above);
  }

  Gemma3nNumbers numbers_;
  ModelFacts facts_;
};

// The rows of a matrix that says by itself how large it is.
Result<std::int64_t> rows_of(const ModelSource& source, std::string_view weight) {
  const ConstAnyView* view = source.weights.find_stored(weight).view;
  if (view != nullptr && view->rank() == 2 && view->size(0) >= 1 && view->size(0) <= most_width) return view->size(0);
  return Error::of(ErrorCode::not_found, "expected a matrix ", weight, " of at most ", most_width, " rows, found ",
                   view == nullptr ? "none" : "another shape");
}

// Deviations, for each layer; without the list no layer is sparse.
Result<std::vector<double>> read_sparsity(const ModelSource& source, const Keys& keys, std::int64_t layers) {
  constexpr std::string_view suffix = "activation_sparsity_scale";
  std::vector<double> sparsity(static_cast<std::size_t>(layers), -std::numeric_limits<double>::infinity());
  const ScalarList list = TRY(source.metadata.number_list_or_empty(keys.key(suffix)));
  if (list.empty()) return sparsity;
  if (list.size() != sparsity.size()) {
    return Error::of(ErrorCode::invalid_argument, keys.key(suffix), ": expected an entry for each of ", layers,
                     " layers, found ", list.size());
  }
  for (std::size_t layer = 0; layer < sparsity.size(); ++layer) {
    sparsity[layer] = list.number(layer);
    if (std::isnan(sparsity[layer]) || sparsity[layer] == std::numeric_limits<double>::infinity()) {
      return Error::of(ErrorCode::invalid_argument, keys.key(suffix), ": expected numbers, found one that is not");
    }
  }
  return sparsity;
}

// Layers that share keys need one of their kind that does not.
Result<void> require_own_keys(const Gemma3nNumbers& n, const Keys& keys) {
  std::array<bool, 2> has_own = {};
  for (std::int64_t layer = 0; layer < n.layers; ++layer) {
    const std::size_t kind = n.slides[static_cast<std::size_t>(layer)] ? 1 : 0;
    if (layer < n.own_key_layers) has_own[kind] = true;
    if (has_own[kind]) continue;
    return Error::of(ErrorCode::invalid_argument, keys.key("attention.shared_kv_layers"),
                     ": expected a layer of each kind that has keys of its own, found none before layer ", layer);
  }
  return {};
}

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const Keys keys(source.metadata, name);
  Gemma3nNumbers n{TRY(read_decoder_numbers(source, name, PairStyle::half_split)), {}, {}, {}};
  n.attention_softcap = 0;
  n.final_softcap = TRY(keys.number_or("final_logit_softcapping", 30));
  n.slides = TRY(read_sliding_layers(source, name, n.layers, 5));
  n.window_rotation = n.rotation.unscaled();
  n.window_rotation.base = TRY(keys.number_or("rope.freq_base_swa", 10000));
  n.streams = TRY(keys.size("altup.num_inputs", most_streams));
  if (n.streams < 2 || TRY(keys.size_or("altup.active_idx", 0, most_streams)) != 0) {
    return Error::of(ErrorCode::unsupported, keys.key("altup"),
                     ": expected several streams of which the first is active, found others");
  }
  n.own_width = TRY(keys.size("embedding_length_per_layer_input", most_width / n.layers));
  n.own_rows = TRY(rows_of(source, "per_layer_token_embd.weight"));
  n.laurel_rank = TRY(rows_of(source, "blk.0.laurel_l.weight"));
  n.own_key_layers = n.layers - TRY(keys.size_or("attention.shared_kv_layers", 0, n.layers));
  n.sparsity = TRY(read_sparsity(source, keys, n.layers));
  TRY(require_own_keys(n, keys));
  return std::unique_ptr<Template>(std::make_unique<Gemma3nTemplate>(std::move(n)));
}

// Below which a share of a normal distribution lies, in deviations above its mean: where erfc gives that share.
double deviations_below(double share) {
  double low = -40;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

Result<void> translate_sparsity(const ModelFile& file, Metadata& metadata) {
  const ScalarList shares = TRY(file.metadata().number_list_or_empty("activation_sparsity_pattern"));
  std::vector<float> deviations;
  for (std::size_t layer = 0; layer < shares.size(); ++layer) {
    const double share = shares.number(layer);
    if (!(share >= 0 && share < 1)) {
      return Error::of(ErrorCode::invalid_argument,
                       "activation_sparsity_pattern: expected shares from 0 up to 1, found one that is not");
    }
    deviations.push_back(share == 0 ? -std::numeric_limits<float>::infinity()
                                    : static_cast<float>(deviations_below(share)));
  }
  if (deviations.empty()) {
    return Error::of(ErrorCode::not_found, "activation_sparsity_pattern: expected a share for each layer, found none");
  }
  metadata.set_scalar_list<float>(Keys(metadata, name).key("activation_sparsity_scale"), deviations);
  return {};
}

// One number, or one for each layer: all the same.
Result<void> translate_hidden(const ModelFile& file, Metadata& metadata) {
  const MetadataValue* given = file.metadata().find("intermediate_size");
  if (given == nullptr || !given->is_list) return {};
  const ScalarList list = TRY(file.metadata().integer_list("intermediate_size"));
  for (std::size_t layer = 0; layer < list.size(); ++layer) {
    if (list.integer(layer) == list.integer(0)) continue;
    return Error::of(ErrorCode::unsupported, "intermediate_size: expected ", list.integer(0), " in every layer, found ",
                     list.integer(layer), " in layer ", layer);
  }
  if (!list.empty()) metadata.set_integer(Keys(metadata, name).key("feed_forward_length"), list.integer(0));
  return {};
}

constexpr std::array own_name_rules = {
    NameRule{"embed_tokens_per_layer.weight", "per_layer_token_embd.weight"},
    NameRule{"per_layer_model_projection.weight", "per_layer_model_proj.weight"},
    NameRule{"per_layer_projection_norm.weight", "per_layer_proj_norm.weight"},
    NameRule{"layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    NameRule{"layers.{}.pre_feedforward_layernorm.weight", "blk.{}.ffn_norm.weight"},
    NameRule{"layers.{}.post_feedforward_layernorm.weight", "blk.{}.post_ffw_norm.weight"},
    NameRule{"layers.{}.altup.correct_output_scale", "blk.{}.altup_correct_scale.weight"},
    NameRule{"layers.{}.altup.correction_coefs.weight", "blk.{}.altup_correct_coef.weight"},
    NameRule{"layers.{}.altup.prediction_coefs.weight", "blk.{}.altup_predict_coef.weight"},
    NameRule{"layers.{}.altup.modality_router.weight", "blk.{}.altup_router.weight"},
    NameRule{"layers.{}.altup.router_norm.weight", "blk.{}.altup_router_norm.weight"},
    NameRule{"layers.{}.laurel.linear_left.weight", "blk.{}.laurel_l.weight"},
    NameRule{"layers.{}.laurel.linear_right.weight", "blk.{}.laurel_r.weight"},
    NameRule{"layers.{}.laurel.post_laurel_norm.weight", "blk.{}.laurel_post_norm.weight"},
    NameRule{"layers.{}.per_layer_input_gate.weight", "blk.{}.inp_gate.weight"},
    NameRule{"layers.{}.per_layer_projection.weight", "blk.{}.proj.weight"},
    NameRule{"layers.{}.post_per_layer_input_norm.weight", "blk.{}.post_norm.weight"},
    NameRule{"altup_projections.{}.weight", "", leave_out},
    NameRule{"altup_unembed_projections.{}.weight", "", leave_out},
};

CheckpointNames names() { return decoder_names(own_name_rules); }

constexpr std::array number_rules = {
    NumberRule{"sliding_window", "attention.sliding_window"},
    NumberRule{"rope_parameters.sliding_attention.rope_theta", "rope.freq_base_swa"},
    NumberRule{"rope_local_base_freq", "rope.freq_base_swa"},
    NumberRule{"final_logit_softcapping", "final_logit_softcapping"},
    NumberRule{"altup_num_inputs", "altup.num_inputs"},
    NumberRule{"altup_active_idx", "altup.active_idx"},
    NumberRule{"hidden_size_per_layer_input", "embedding_length_per_layer_input"},
    NumberRule{"num_kv_shared_layers", "attention.shared_kv_layers"},
};

// Matrices of the same name with numbers, as one stack.
Result<void> add_stack(const ModelFile& file, const std::string& from, std::string_view to, std::int64_t count,
                       Weights& weights) {
  AnyView stack;
  for (std::int64_t index = 0; index < count; ++index) {
    const std::string one = from + std::to_string(index) + ".weight";
    const StoredTensor* matrix = file.find(one);
    const bool fits = matrix != nullptr && matrix->view.rank() == 2 && !matrix->view.empty() &&
                      matrix->view.is_contiguous() && !is_block_format(matrix->view.dtype()) &&
                      (index == 0 || (matrix->view.dtype() == stack.dtype() && matrix->view.size(0) == stack.size(1) &&
                                      matrix->view.size(1) == stack.size(2)));
    if (!fits) {
      return Error::of(ErrorCode::corrupt, one, ": expected a matrix like those before it, found ",
                       matrix == nullptr ? "none" : "another");
    }
    const ConstAnyView& view = matrix->view;
    if (index == 0) stack = TRY(weights.add_owned(to, view.dtype(), {count, view.size(0), view.size(1)}));
    std::memcpy(stack.data() + index * stack.byte_stride(0), view.data(),
                static_cast<std::size_t>(stack.byte_stride(0)));
  }
  return {};
}

Result<void> translate_text(const ModelFile& file, const std::string& prefix, ModelSource& source) {
  Metadata& metadata = source.metadata;
  const Keys keys(metadata, name);
  TRY(require_known(file, "hidden_activation", {"gelu_pytorch_tanh"}));
  TRY(require_flag(file, "altup_correct_scale", true));
  TRY(require_flag(file, "attention_bias", false));
  TRY(translate_numbers(file, name, number_rules, metadata));
  TRY(translate_decoder_numbers(file, name, metadata));
  set_zero_where_null(file, name, {"final_logit_softcapping"}, metadata);
  set_usual_number(metadata, name, "attention.layer_norm_rms_epsilon", 1e-6);
  set_usual_number(metadata, name, "rope.freq_base", 1e6);
  TRY(translate_hidden(file, metadata));
  TRY(translate_layer_types(file, name, metadata));
  TRY(translate_sparsity(file, metadata));
  TRY(translate_names(file, names(), source.weights));
  const std::int64_t others = TRY(keys.size("altup.num_inputs", most_streams)) - 1;
  TRY(add_stack(file, prefix + "altup_projections.", "altup_proj.weight", others, source.weights));
  return add_stack(file, prefix + "altup_unembed_projections.", "altup_unembd_proj.weight", others, source.weights);
}

Result<void> translate(const ModelFile& file, ModelSource& source) {
  if (TRY(file.metadata().text("model_type")) == "gemma3n_text") return translate_text(file, "model.", source);
  const ModelFile text =
      TRY(text_part(file, {"model.vision_tower.", "model.audio_tower.", "model.embed_vision.", "model.embed_audio."}));
  return translate_text(text, "model.language_model.", source);
}

constexpr std::array<std::string_view, 2> model_types = {"gemma3n_text", "gemma3n"};

}  // namespace

extern const ModelArchitecture gemma3n_architecture = {name,      model_types,           create,
                                                       translate, PairStyle::half_split, names};

}  // namespace ingot
