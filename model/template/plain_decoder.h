// PlainDecoder: the Llama block in every layer, which many architectures have but for a few words:
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n))),             n = attn_norm(h)
//   h += experts(n), or down(silu(gate(n)) up(n)) without any,   n = norm(h)
#pragma once

#include "model/template/decoder_pieces.h"
#include "model/template/experts.h"

namespace ingot {

enum class HeadNorm : std::uint8_t { none, rms };  // of each of q and k

struct PlainDecoder {
  DecoderNumbers numbers;
  ExpertNumbers experts = {};
  std::vector<bool> slides = {};  // by layer: sees no further than the window. Empty: all, where there is one
  std::vector<bool> turns = {};   // by layer: knows positions. Empty: all
  HeadNorm head_norm = HeadNorm::none;
  bool has_sinks = false;
  double score_scale = 0;  // of attention; 0: the usual one
  std::string_view second_norm = "ffn_norm";
};

std::unique_ptr<Template> create_plain_decoder(PlainDecoder decoder, std::string_view architecture);

}  // namespace ingot
