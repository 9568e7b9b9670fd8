#include "model/template/plain_decoder.h"

namespace ingot {
namespace {

bool is_of(const std::vector<bool>& layers, int layer) {
  return layers.empty() || layers[static_cast<std::size_t>(layer)];
}

class PlainDecoderTemplate : public Template {
 public:
  PlainDecoderTemplate(PlainDecoder decoder, std::string_view architecture)
      : decoder_(std::move(decoder)), facts_(facts_of(decoder_.numbers, architecture)) {}

  const ModelFacts& facts() const override { return facts_; }

  void emit(CircuitBuilder& builder) const override {
    const DecoderNumbers& n = decoder_.numbers;
    const PassOperands inputs(builder);
    const Operand h =
        plain_layers(builder, inputs, n,
                     {.mixed = [&](const Operand& x, int layer) { return attention(builder, inputs, x, layer); },
                      .fed = [&](const Operand& x) { return feed_forward(builder, x, n.hidden, decoder_.experts); },
                      .second_norm = decoder_.second_norm});
    language_head(builder, inputs, h, n);
  }

 private:
  Operand attention(CircuitBuilder& builder, const PassOperands& inputs, const Operand& x, int layer) const {
    const DecoderNumbers& n = decoder_.numbers;
    HeadOperands heads = project_heads(builder, x, n);
    if (decoder_.head_norm == HeadNorm::rms) heads = normed_heads(builder, heads, n.epsilon);
    Attention attention = attention_of(n, is_of(decoder_.slides, layer));
    attention.has_sinks = decoder_.has_sinks;
    if (decoder_.score_scale != 0) attention.scale = decoder_.score_scale;
    if (!is_of(decoder_.turns, layer)) return attention_of_unturned_heads(builder, heads, n, attention);
    return attention_of_heads(builder, inputs, heads, n, n.rotation, attention);
  }

  PlainDecoder decoder_;
  ModelFacts facts_;
};

}  // namespace

std::unique_ptr<Template> create_plain_decoder(PlainDecoder decoder, std::string_view architecture) {
  return std::make_unique<PlainDecoderTemplate>(std::move(decoder), architecture);
}

}  // namespace ingot
