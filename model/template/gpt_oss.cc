// GPT-OSS: a mixture of experts in every layer, with biases and clamped gates; each head has a sink, and every second
// layer, from the first on, sees no further than a window.
//
//   h += o(attention(rope(q(n)), rope(k(n)), v(n), sinks)),  n = rms_norm(h)
//   h += experts(n),                                         n = rms_norm(h)
#include <algorithm>
#include <array>
#include <cstring>

#include "model/template/plain_decoder.h"
#include "tensor/block_formats.h"

namespace ingot {
namespace {

constexpr std::string_view name = "gpt-oss";
// Layers of a period, of which the last sees everything.
constexpr std::int64_t usual_period = 2;
// GGUF has no keys for them.
constexpr double gate_limit = 7;
constexpr double gate_gain = 1.702;

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  PlainDecoder decoder = {.numbers = TRY(read_decoder_numbers(source, name, PairStyle::half_split)),
                          .has_sinks = true,
                          .second_norm = "post_attention_norm"};
  decoder.numbers.rotation.whole_ramp = false;
  decoder.experts = TRY(read_expert_numbers(source, name, decoder.numbers.hidden));
  decoder.experts.gate = ExpertGate::clamped;
  decoder.experts.limit = gate_limit;
  decoder.slides = TRY(read_sliding_layers(source, name, decoder.numbers.layers, usual_period));
  return create_plain_decoder(std::move(decoder), name);
}

std::string with_up(std::string_view gate) {
  std::string up(gate);
  return up.replace(up.find("ffn_gate"), 8, "ffn_up");
}

// Columns are those of the gate and of up in turns, [experts, inputs, 2 hidden], or as many biases: rows of two
// tensors.
Result<void> add_gate_and_up(std::string_view gate, const ConstAnyView& view, Weights& weights) {
  const int rank = view.rank();
  if (rank < 2 || rank > 3 || view.shape().last() % 2 != 0) {
    return Error::of(ErrorCode::corrupt, gate, ": expected columns of gate and up in turns, found ", view.shape());
  }
  const std::int64_t step = view.byte_stride(rank - 1);
  const std::int64_t rows = view.shape().last() / 2;
  Shape shape = {view.size(0), rows};
  Strides strides = {view.byte_stride(0), 2 * step};
  if (rank == 3) {
    shape.push_back(view.size(1));
    strides.push_back(view.byte_stride(1));
  }
  TRY(add_copied(gate, ConstAnyView(view.data(), view.dtype(), shape, strides), weights));
  return add_copied(with_up(gate), ConstAnyView(view.data() + step, view.dtype(), shape, strides), weights);
}

// Blocks as checkpoints have them: 16 bytes of neighbours, the first in the lower half, and an exponent elsewhere.
struct PackedExperts {
  ConstAnyView blocks;  // [experts, rows, blocks of a row, 16]
  ConstAnyView scales;  // [experts, rows, blocks of a row]
};

// Every `step`th row from `first` on, as MXFP4.
Result<void> add_blocks(std::string_view to, const PackedExperts& packed, std::int64_t first, std::int64_t step,
                        Weights& weights) {
  constexpr std::int64_t half = BlockMXFP4::elements / 2;
  const std::int64_t rows = packed.scales.size(1) / step;
  const std::int64_t blocks = packed.scales.size(2);
  const AnyView target =
      TRY(weights.add_owned(to, DType::mxfp4, {packed.scales.size(0), rows, blocks * BlockMXFP4::elements}));
  auto* block = reinterpret_cast<BlockMXFP4*>(target.data());
  for (std::int64_t expert = 0; expert < packed.scales.size(0); ++expert) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t from = ((expert * packed.scales.size(1)) + first + row * step) * blocks;
      for (std::int64_t index = from; index < from + blocks; ++index, ++block) {
        const auto* codes = reinterpret_cast<const std::uint8_t*>(packed.blocks.data()) + index * half;
        block->exponent = std::to_integer<std::uint8_t>(packed.scales.data()[index]);
        // Element l lies beside element l + 16 here.
        for (std::int64_t l = 0; l < half; ++l) {
          const int shift = l % 2 == 0 ? 0 : 4;
          const int low = codes[l / 2] >> shift & 15;
          const int high = codes[(l + half) / 2] >> shift & 15;
          block->low[l] = static_cast<std::uint8_t>(low | high << 4);
        }
      }
    }
  }
  return {};
}

Result<PackedExperts> packed_experts(const ModelFile& file, const StoredTensor& scales, std::string_view stem) {
  const StoredTensor* blocks = file.find(std::string(stem) + "_blocks");
  if (blocks == nullptr) {
    return Error::of(ErrorCode::not_found, scales.name, ": expected its blocks beside it, found none");
  }
  const ConstAnyView& codes = blocks->view;
  Shape expected = scales.view.rank() == 3 ? scales.view.shape() : Shape();
  expected.push_back(16);
  const bool fits = scales.view.dtype() == DType::u8 && scales.view.rank() == 3 && scales.view.is_contiguous() &&
                    codes.dtype() == DType::u8 && codes.shape() == expected && codes.is_contiguous() &&
                    !scales.view.empty();
  if (fits) return PackedExperts{codes, scales.view};
  return Error::of(ErrorCode::corrupt, scales.name, ": expected bytes [experts, rows, blocks] with 16 of ",
                   blocks->name, " each, found ", scales.view.shape(), " and ", codes.shape());
}

// Experts that are stored as MXFP4.
Result<void> add_packed_experts(const ModelFile& file, std::int64_t layers, Weights& weights) {
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string stem = "model.layers." + std::to_string(layer) + ".mlp.experts.";
    const std::string to = layer_prefix(static_cast<int>(layer));
    if (const StoredTensor* scales = file.find(stem + "gate_up_proj_scales")) {
      const PackedExperts packed = TRY(packed_experts(file, *scales, stem + "gate_up_proj"));
      if (packed.scales.size(1) % 2 != 0) {
        return Error::of(ErrorCode::corrupt, scales->name, ": expected rows of gate and up in turns, found ",
                         packed.scales.shape());
      }
      TRY(add_blocks(to + "ffn_gate_exps.weight", packed, 0, 2, weights));
      TRY(add_blocks(to + "ffn_up_exps.weight", packed, 1, 2, weights));
    }
    if (const StoredTensor* scales = file.find(stem + "down_proj_scales")) {
      const PackedExperts packed = TRY(packed_experts(file, *scales, stem + "down_proj"));
      TRY(add_blocks(to + "ffn_down_exps.weight", packed, 0, 1, weights));
    }
  }
  return {};
}

Result<void> require_number(const ModelFile& file, std::string_view key, double known) {
  const double found = TRY(file.metadata().number_or(key, known));
  if (found == known) return {};
  return Error::of(ErrorCode::unsupported, key, ": expected ", std::to_string(known), ", found ",
                   std::to_string(found));
}

// All models have the ramp of their rotation's scaling between whole pairs, which config.json must say.
Result<void> require_exact_ramp(const ModelFile& file) {
  for (const std::string_view parent : {"rope_parameters.", "rope_scaling."}) {
    const Result<std::string_view> kind = file.metadata().text_or(std::string(parent).append("rope_type"), "");
    if (!kind.ok() || kind.value() != "yarn") continue;
    const std::string key = std::string(parent).append("truncate");
    if (!TRY(file.metadata().boolean_or(key, true))) continue;
    return Error::of(ErrorCode::unsupported, key, ": expected false, found true or none");
  }
  return {};
}

// Files say which layers slide only where it is not every second one.
Result<void> translate_windows(const ModelFile& file, Metadata& metadata) {
  const std::vector<bool> slides = TRY(layers_of_kind(file, "sliding_attention"));
  for (std::size_t layer = 0; layer < slides.size(); ++layer) {
    const bool usually_slides = (layer + 1) % usual_period != 0;
    if (slides[layer] == usually_slides) continue;
    set_sliding_layers(slides, name, metadata);
    return {};
  }
  metadata.set_integer(Keys(metadata, name).key("attention.sliding_window_pattern"), usual_period);
  return {};
}

constexpr std::array own_name_rules = {
    NameRule{"layers.{}.self_attn.sinks", "blk.{}.attn_sinks.weight"},
    NameRule{"layers.{}.post_attention_layernorm.weight", "blk.{}.post_attention_norm.weight"},
    NameRule{"layers.{}.mlp.router.weight", "blk.{}.ffn_gate_inp.weight"},
    NameRule{"layers.{}.mlp.router.bias", "blk.{}.ffn_gate_inp.bias"},
    NameRule{"layers.{}.mlp.experts.gate_up_proj", "blk.{}.ffn_gate_exps.weight", add_gate_and_up},
    NameRule{"layers.{}.mlp.experts.gate_up_proj_bias", "blk.{}.ffn_gate_exps.bias", add_gate_and_up},
    NameRule{"layers.{}.mlp.experts.down_proj", "blk.{}.ffn_down_exps.weight", add_transposed},
    NameRule{"layers.{}.mlp.experts.down_proj_bias", "blk.{}.ffn_down_exps.bias"},
    NameRule{"layers.{}.mlp.experts.gate_up_proj_blocks", "", leave_out},
    NameRule{"layers.{}.mlp.experts.gate_up_proj_scales", "", leave_out},
    NameRule{"layers.{}.mlp.experts.down_proj_blocks", "", leave_out},
    NameRule{"layers.{}.mlp.experts.down_proj_scales", "", leave_out},
};

CheckpointNames names() { return decoder_names(own_name_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  constexpr std::array number_rules = {
      NumberRule{"sliding_window", "attention.sliding_window"},
      NumberRule{"intermediate_size", "expert_feed_forward_length"},
  };
  Metadata& metadata = source.metadata;
  TRY(require_known(file, "hidden_act", {"silu"}));
  TRY(require_number(file, "swiglu_limit", gate_limit));
  TRY(require_number(file, "swiglu_alpha", gate_gain));
  TRY(require_exact_ramp(file));
  TRY(translate_numbers(file, name, number_rules, metadata));
  TRY(translate_decoder_numbers(file, name, metadata, {"truncate"}));
  set_usual_size(metadata, name, "attention.key_length", 64);
  set_usual_size(metadata, name, "attention.value_length", 64);
  TRY(translate_windows(file, metadata));
  TRY(translate_names(file, names(), source.weights));
  return add_packed_experts(file, TRY(Keys(metadata, name).size("block_count", most_layers)), source.weights);
}

constexpr std::array<std::string_view, 1> model_types = {"gpt_oss"};

}  // namespace

extern const ModelArchitecture gpt_oss_architecture = {name,      model_types,           create,
                                                       translate, PairStyle::half_split, names};

}  // namespace ingot
