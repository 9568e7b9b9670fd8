// Mamba: no attention; every channel drives a few decaying memories, with steps and projections that depend on the
// input. Falcon Mamba normalises these.
//
//   x, z = in(rms_norm(h));  x = silu(convolution(x));  dt, B, C = x(x);  delta = softplus(dt(dt))
//   h += out(selective_scan(x, delta, A, B, C, D) * silu(z))
#include <array>

#include "model/template/decoder_pieces.h"
#include "model/template/keys.h"
#include "model/template/state_space.h"

namespace ingot {
namespace {

class MambaTemplate : public Template {
 public:
  MambaTemplate(const DecoderNumbers& numbers, const StateSpaceNumbers& space, bool norms_steps)
      : numbers_(numbers), space_(space), norms_steps_(norms_steps), facts_(facts_of(numbers, "mamba")) {
    facts_.is_recurrent = true;
  }

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = numbers_;
    const PassOperands inputs(builder);
    Operand h = embedding(builder, "embedding", inputs.tokens, "token_embd.weight", n.vocabulary, n.width);
    for (int layer = 0; layer < n.layers; ++layer) {
      builder.begin_layer(layer);
      h = residual_add(builder, "ssm_residual", mixer(builder, h), h);
    }
    builder.end_layers();
    language_head(builder, inputs, h, n);
  }

 private:
  Operand mixer(CircuitBuilder& builder, const Operand& h) const {
    const StateSpaceNumbers& s = space_;
    const Operand normed = rms_norm(builder, "attn_norm", h, "attn_norm", numbers_.epsilon);
    const Operand both = linear(builder, "ssm_in", normed, 2 * s.inner);
    const Operand x = causal_convolution(builder, "ssm_conv", builder.sliced(both, 1, 0, s.inner), s.taps);
    const Operand z = builder.sliced(both, 1, s.inner, 2 * s.inner);

    const Operand parts = linear(builder, "ssm_x", x, s.rank + 2 * s.memory);
    const Operand steps = part(builder, "ssm_steps", parts, 0, s.rank);
    const Operand into = part(builder, "ssm_b", parts, s.rank, s.memory);
    const Operand out_of = part(builder, "ssm_c", parts, s.rank + s.memory, s.memory);
    const Operand delta = curve(builder, "activation.softplus", "ssm_delta", linear(builder, "ssm_dt", steps, s.inner));

    const Operand y = scan(builder, x, delta, into, out_of);
    const Operand gated = multiplied(builder, "ssm_gated", y, curve(builder, "activation.silu", "ssm_gate", z));
    return linear(builder, "ssm_out", gated, numbers_.width);
  }

  Operand part(CircuitBuilder& builder, const std::string& makes, const Operand& parts, std::int64_t begin,
               std::int64_t size) const {
    const Operand columns = builder.sliced(parts, 1, begin, begin + size);
    return norms_steps_ ? unit_rms(builder, makes, columns, numbers_.epsilon) : columns;
  }

  Operand scan(CircuitBuilder& builder, const Operand& x, const Operand& delta, const Operand& into,
               const Operand& out_of) const {
    const StateSpaceNumbers& s = space_;
    const Operand transition = builder.weight("ssm_a", {s.inner, s.memory});
    const Operand skip = builder.weight("ssm_d", {s.inner});
    const Operand y = builder.activation("ssm_scan", x.shape);
    for (int run_group = 0; run_group < builder.run_groups(); ++run_group) {
      const StateOperands state = builder.state("ssm_state", run_group, {s.inner, s.memory});
      builder.call("state.selective_scan", "ssm_scan",
                   {{"x", builder.of_run_group(x, run_group)},
                    {"delta", builder.of_run_group(delta, run_group)},
                    {"transition", transition},
                    {"input_projection", builder.of_run_group(into, run_group)},
                    {"output_projection", builder.of_run_group(out_of, run_group)},
                    {"skip", skip},
                    {"initial_state", state.initial},
                    {"y", builder.of_run_group(y, run_group)},
                    {"final_state", state.final}});
    }
    return y;
  }

  DecoderNumbers numbers_;
  StateSpaceNumbers space_;
  bool norms_steps_;
  ModelFacts facts_;
};

Result<std::unique_ptr<Template>> create(const ModelSource& source) {
  const DecoderNumbers numbers = TRY(read_trunk_numbers(source, "mamba"));
  const StateSpaceNumbers space = TRY(read_state_space_numbers(source.metadata, "mamba"));
  const bool norms_steps = TRY(Keys(source.metadata, "mamba").boolean_or("ssm.dt_b_c_rms", false));
  return std::unique_ptr<Template>(std::make_unique<MambaTemplate>(numbers, space, norms_steps));
}

constexpr std::array name_rules = {
    NameRule{"layers.{}.mixer.x_proj.weight", "blk.{}.ssm_x.weight"},
    NameRule{"layers.{}.mixer.dt_proj.weight", "blk.{}.ssm_dt.weight"},
    NameRule{"layers.{}.mixer.dt_proj.bias", "blk.{}.ssm_dt.bias"},
    NameRule{"layers.{}.mixer.D", "blk.{}.ssm_d"},
};

CheckpointNames names() { return state_space_names(name_rules); }

Result<void> translate(const ModelFile& file, ModelSource& source) {
  constexpr std::array number_rules = {
      NumberRule{"intermediate_size", "ssm.inner_size"},
      NumberRule{"time_step_rank", "ssm.time_step_rank"},
  };
  return translate_state_space(file, "mamba", number_rules, names(), source);
}

constexpr std::array<std::string_view, 1> model_types = {"mamba"};

}  // namespace

extern const ModelArchitecture mamba_architecture = {"mamba",   model_types,           create,
                                                     translate, PairStyle::half_split, names};

}  // namespace ingot
