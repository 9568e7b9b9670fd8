// What decoder-only transformers of the Llama line share beyond single operations.
#pragma once

#include <functional>

#include "model/template/decoder_numbers.h"
#include "model/template/translation.h"

namespace ingot {

struct HeadOperands {
  Operand q, k, v;  // [tokens, heads, dimensions]
};

// Projections of x by attn_q, attn_k and attn_v, or by one attn_qkv that holds their rows one behind the other.
HeadOperands project_heads(CircuitBuilder& builder, const Operand& x, const DecoderNumbers& numbers);

// Each head of q and k normalised, by attn_q_norm and attn_k_norm.
HeadOperands normed_heads(CircuitBuilder& builder, const HeadOperands& heads, double epsilon);

// All of q's heads normalised as one row, and all of k's, by attn_q_norm and attn_k_norm.
HeadOperands jointly_normed_heads(CircuitBuilder& builder, const HeadOperands& heads, double epsilon);

// Mixed and projected by attn_output, as the heads are: for layers that know no positions.
Operand attention_of_unturned_heads(CircuitBuilder& builder, const HeadOperands& heads, const DecoderNumbers& numbers,
                                    const Attention& attention);

// Turned, mixed and projected by attn_output: all that follows the heads' projections and norms.
Operand attention_of_heads(CircuitBuilder& builder, const PassOperands& inputs, const HeadOperands& heads,
                           const DecoderNumbers& numbers, const Rotation& rotation, const Attention& attention);

// Of a layer that sees no further than the window, where there is one, or of one that sees everything.
Attention attention_of(const DecoderNumbers& numbers, bool slides = true);

// Layers of the plainest kind, from the tokens' embeddings on:
//
//   h += mixed(attn_norm(h))
//   h += fed(norm(h))
struct PlainLayers {
  std::function<Operand(const Operand& normed, int layer)> mixed;
  std::function<Operand(const Operand& normed)> fed;
  std::string_view second_norm = "ffn_norm";
};
Operand plain_layers(CircuitBuilder& builder, const PassOperands& inputs, const DecoderNumbers& numbers,
                     const PlainLayers& layers);

// The final norm and the scores over the vocabulary, for the tokens whose output is wanted. A model without
// output.weight uses its embedding table. Scores are capped where the model says so.
void language_head(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h,
                   const DecoderNumbers& numbers);

// Tensor names of Hugging Face checkpoints of this line, also of the text's part of a larger model.
CheckpointNames decoder_names();
CheckpointNames decoder_names(std::span<const NameRule> own);

}  // namespace ingot
