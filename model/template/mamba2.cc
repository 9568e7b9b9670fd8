// Mamba 2: as Mamba, with one decay a head, so that a head's memory is a matrix.
//
//   h += mixer(rms_norm(h)), as model/template/mamba2_mixer.h has it
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/mamba2_mixer.h"

namespace ingot {
namespace {

class Mamba2Template : public Template {
 public:
  Mamba2Template(const DecoderNumbers& trunk, const Mamba2Numbers& numbers)
      : trunk_(trunk), numbers_(numbers), facts_(facts_of(trunk, "mamba2")) {
    facts_.is_recurrent = true;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = trunk_;
    const PassOperands inputs(builder);
    Operand h = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      const Operand normed = rms_norm(builder, "attn_norm", h, "attn_norm", n.epsilon);
      h = residual_add(builder, "ssm_residual", mamba2_mixer(builder, normed, numbers_), h);
    }
    builder.end_layers();
    language_head(builder, inputs, h, n);
  }

 private:
  DecoderNumbers trunk_;
  Mamba2Numbers numbers_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers trunk = TRY(read_trunk_numbers(source, "mamba2"));
  const Mamba2Numbers numbers = TRY(read_mamba2_numbers(source, "mamba2", trunk.width, trunk.epsilon));
  return std::unique_ptr<Template>(std::make_unique<Mamba2Template>(trunk, numbers));
}

constexpr std::array name_rules = {
    NameRule{"layers.{}.mixer.dt_bias", "blk.{}.ssm_dt.bias"},
    NameRule{"layers.{}.mixer.D", "blk.{}.ssm_d", add_column},
    // A vector: transformers normalises the whole inner width, where GGUF's matrix has a row for each group.
    NameRule{"layers.{}.mixer.norm.weight", "blk.{}.ssm_norm.weight"},
};

CheckpointNames names() { return state_space_names(name_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  constexpr std::array number_rules = {
      NumberRule{"num_heads", "ssm.time_step_rank"},
      NumberRule{"n_groups", "ssm.group_count"},
  };
  const std::int64_t heads = TRY(file.metadata().integer("num_heads"));
  const std::int64_t size = TRY(file.metadata().integer("head_dim"));
  source.metadata.set_integer("mamba2.ssm.inner_size", TRY(checked_multiply(heads, size)));
  TRY(translate_step_limit(file, source.metadata));
  return translate_state_space(file, "mamba2", number_rules, names(), source);
}

constexpr std::array<std::string_view, 1> model_types = {"mamba2"};

}  // namespace

extern const ModelArchitecture mamba2_architecture = {"mamba2",  model_types,           create,
                                                      translate, PairStyle::half_split, names};

}  // namespace ingot
