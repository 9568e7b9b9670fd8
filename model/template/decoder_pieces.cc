#include "model/template/decoder_pieces.h"

#include <array>

namespace ingot {

HeadOperands project_heads(CircuitBuilder& builder, const Operand& x, const DecoderNumbers& n) {
  const std::int64_t q_width = n.heads * n.key_dimensions;
  const std::int64_t k_width = n.key_heads * n.key_dimensions;
  const std::int64_t v_width = n.key_heads * n.value_dimensions;
  Operand q, k, v;
  if (builder.has_weight("attn_qkv.weight")) {
    const Operand all = linear(builder, "attn_qkv", x, q_width + k_width + v_width);
    q = builder.sliced(all, 1, 0, q_width);
    k = builder.sliced(all, 1, q_width, q_width + k_width);
    v = builder.sliced(all, 1, q_width + k_width, q_width + k_width + v_width);
  } else {
    q = linear(builder, "attn_q", x, q_width);
    k = linear(builder, "attn_k", x, k_width);
    v = linear(builder, "attn_v", x, v_width);
  }
  const std::int64_t tokens = builder.tokens();
  return {builder.reshaped(q, {tokens, n.heads, n.key_dimensions}),
          builder.reshaped(k, {tokens, n.key_heads, n.key_dimensions}),
          builder.reshaped(v, {tokens, n.key_heads, n.value_dimensions})};
}

HeadOperands normed_heads(CircuitBuilder& builder, const HeadOperands& heads, double epsilon) {
  const Operand q = builder.activation("attn_q_norm", heads.q.shape);
  const Operand k = builder.activation("attn_k_norm", heads.k.shape);
  builder.call("norm.qk_norm", "attn_qk_norm",
               {{"q", heads.q},
                {"k", heads.k},
                {"q_gamma", builder.weight("attn_q_norm.weight", {heads.q.shape.last()})},
                {"k_gamma", builder.weight("attn_k_norm.weight", {heads.k.shape.last()})},
                {"q_out", q},
                {"k_out", k}},
               {{"epsilon", epsilon}});
  return {q, k, heads.v};
}

HeadOperands jointly_normed_heads(CircuitBuilder& builder, const HeadOperands& heads, double epsilon) {
  const auto normed = [&](const Operand& x, std::string_view name) {
    const Operand rows = builder.reshaped(x, {x.shape[0], x.shape[1] * x.shape[2]});
    return builder.reshaped(rms_norm(builder, name, rows, name, epsilon), x.shape);
  };
  return {normed(heads.q, "attn_q_norm"), normed(heads.k, "attn_k_norm"), heads.v};
}

Operand attention_of_unturned_heads(CircuitBuilder& builder, const HeadOperands& heads, const DecoderNumbers& numbers,
                                    const Attention& attention) {
  const Operand mixed = attention_over_runs(builder, heads.q, heads.k, heads.v, attention);
  return linear(builder, "attn_output", mixed, numbers.width);
}

Operand attention_of_heads(CircuitBuilder& builder, const PassOperands& inputs, const HeadOperands& heads,
                           const DecoderNumbers& numbers, const Rotation& rotation, const Attention& attention) {
  const Operand q = rotated(builder, "rope_q", heads.q, inputs.positions, rotation);
  const Operand k = rotated(builder, "rope_k", heads.k, inputs.positions, rotation);
  return attention_of_unturned_heads(builder, {q, k, heads.v}, numbers, attention);
}

Attention attention_of(const DecoderNumbers& n, bool slides) {
  return {.heads = n.heads,
          .value_dimensions = n.value_dimensions,
          .scale = n.attention_scale(),
          .window = slides ? n.window : 0,
          .softcap = n.attention_softcap};
}

Operand plain_layers(CircuitBuilder& builder, const PassOperands& inputs, const DecoderNumbers& n,
                     const PlainLayers& layers) {
  Operand h = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
  for (int layer = 0; layer < n.layers; ++layer) {
    builder.begin_layer(layer);
    const Operand entering = rms_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
    h = residual_add(builder, "attn_residual", layers.mixed(entering, layer), h);
    const Operand normed = rms_norm(builder, layers.second_norm, h, layers.second_norm, n.epsilon);
    h = residual_add(builder, "ffn_residual", layers.fed(normed), h);
  }
  builder.end_layers();
  return h;
}

void language_head(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h, const DecoderNumbers& n) {
  const Operand rows = wanted_rows(builder, "wanted_rows", h, inputs.wanted);
  const Operand normed = rms_norm(builder, "output_norm", rows, "output_norm", n.epsilon);
  scores(builder, normed, n.vocabulary, n.final_softcap);
}

CheckpointNames decoder_names() { return decoder_names({}); }

CheckpointNames decoder_names(std::span<const NameRule> own) {
  static constexpr std::array<std::string_view, 2> prefixes = {"model.language_model.", "model."};
  static constexpr std::array rules = {
      NameRule{"embed_tokens.weight", "token_embd.weight"},
      NameRule{"norm.weight", "output_norm.weight"},
      NameRule{"lm_head.weight", "output.weight"},
      NameRule{"layers.{}.input_layernorm.weight", "blk.{}.attn_norm.weight"},
      NameRule{"layers.{}.self_attn.q_proj.weight", "blk.{}.attn_q.weight"},
      NameRule{"layers.{}.self_attn.k_proj.weight", "blk.{}.attn_k.weight"},
      NameRule{"layers.{}.self_attn.v_proj.weight", "blk.{}.attn_v.weight"},
      NameRule{"layers.{}.self_attn.qkv_proj.weight", "blk.{}.attn_qkv.weight"},
      NameRule{"layers.{}.self_attn.o_proj.weight", "blk.{}.attn_output.weight"},
      NameRule{"layers.{}.self_attn.q_proj.bias", "blk.{}.attn_q.bias"},
      NameRule{"layers.{}.self_attn.k_proj.bias", "blk.{}.attn_k.bias"},
      NameRule{"layers.{}.self_attn.v_proj.bias", "blk.{}.attn_v.bias"},
      NameRule{"layers.{}.self_attn.o_proj.bias", "blk.{}.attn_output.bias"},
      NameRule{"layers.{}.self_attn.q_norm.weight", "blk.{}.attn_q_norm.weight"},
      NameRule{"layers.{}.self_attn.k_norm.weight", "blk.{}.attn_k_norm.weight"},
      NameRule{"layers.{}.post_attention_layernorm.weight", "blk.{}.ffn_norm.weight"},
      NameRule{"layers.{}.mlp.gate_proj.weight", "blk.{}.ffn_gate.weight"},
      NameRule{"layers.{}.mlp.up_proj.weight", "blk.{}.ffn_up.weight"},
      NameRule{"layers.{}.mlp.gate_up_proj.weight", "blk.{}.ffn_up.weight"},
      NameRule{"layers.{}.mlp.down_proj.weight", "blk.{}.ffn_down.weight"},
      NameRule{"layers.{}.mlp.gate_proj.bias", "blk.{}.ffn_gate.bias"},
      NameRule{"layers.{}.mlp.up_proj.bias", "blk.{}.ffn_up.bias"},
      NameRule{"layers.{}.mlp.down_proj.bias", "blk.{}.ffn_down.bias"},
      NameRule{"layers.{}.mlp.gate.weight", "blk.{}.ffn_gate_inp.weight"},
      NameRule{"layers.{}.mlp.experts.{}.gate_proj.weight", "blk.{}.ffn_gate_exps.weight"},
      NameRule{"layers.{}.mlp.experts.{}.up_proj.weight", "blk.{}.ffn_up_exps.weight"},
      NameRule{"layers.{}.mlp.experts.{}.down_proj.weight", "blk.{}.ffn_down_exps.weight"},
      NameRule{"layers.{}.mlp.experts.gate_up_proj", "blk.{}.ffn_gate_up_exps.weight"},
      NameRule{"layers.{}.mlp.experts.down_proj", "blk.{}.ffn_down_exps.weight"},
      NameRule{"layers.{}.mlp.shared_expert_gate.weight", "blk.{}.ffn_gate_inp_shexp.weight"},
      NameRule{"layers.{}.mlp.shared_expert.gate_proj.weight", "blk.{}.ffn_gate_shexp.weight"},
      NameRule{"layers.{}.mlp.shared_expert.up_proj.weight", "blk.{}.ffn_up_shexp.weight"},
      NameRule{"layers.{}.mlp.shared_expert.down_proj.weight", "blk.{}.ffn_down_shexp.weight"},
      NameRule{"layers.{}.block_sparse_moe.gate.weight", "blk.{}.ffn_gate_inp.weight"},
      NameRule{"layers.{}.block_sparse_moe.experts.{}.w1.weight", "blk.{}.ffn_gate_exps.weight"},
      NameRule{"layers.{}.block_sparse_moe.experts.{}.w3.weight", "blk.{}.ffn_up_exps.weight"},
      NameRule{"layers.{}.block_sparse_moe.experts.{}.w2.weight", "blk.{}.ffn_down_exps.weight"},
  };
  return {prefixes, own, rules};
}

}  // namespace ingot
