// What decoder-only transformers of the Llama line share beyond single operations.
#pragma once

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

Attention attention_of(const DecoderNumbers& numbers);

// The final norm and the scores over the vocabulary, for the tokens whose output is wanted. A model without
// output.weight uses its embedding table. Scores are capped where the model says so.
void language_head(CircuitBuilder& builder, const PassOperands& inputs, const Operand& h,
                   const DecoderNumbers& numbers);

// Tensor names of Hugging Face checkpoints of this line, without their "model." prefix.
std::span<const NameRule> decoder_name_rules();

}  // namespace ingot
