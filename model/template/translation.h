// Translating Hugging Face checkpoints: config.json's numbers into GGUF's keys, tensor names into GGUF's names.
#pragma once

#include "model/template/template.h"

namespace ingot {

// How a tensor that is stored otherwise there is added here.
using Change = Result<void> (*)(std::string_view name, const ConstAnyView& view, Weights& weights);

// A tensor's name there and here; "{}" stands for a layer's number in both. A second "{}" in `from` is an expert's
// number: the tensors of a layer's experts become one, with an axis more.
struct NameRule {
  std::string_view from;
  std::string_view to;
  Change change = nullptr;  // null: it is stored the same
};

// Changes that several architectures need. The results are f32.
Result<void> add_plus_one(std::string_view name, const ConstAnyView& view, Weights& weights);  // 1 + w
// [channels, 1, taps] as [channels, taps].
Result<void> add_convolution(std::string_view name, const ConstAnyView& view, Weights& weights);
// f of every element, under a shape of as many.
Result<void> add_mapped(std::string_view name, const ConstAnyView& view, const Shape& shape, float (*f)(float),
                        Weights& weights);

// A number of config.json and the suffix of its key here. Absent ones stay absent.
struct NumberRule {
  std::string_view from;
  std::string_view to;
};

// Sets general.architecture and "<architecture>.<to>" for every rule. Where a rule's number is given twice, the first
// that config.json has wins: newer and older spellings stand one behind the other.
Result<void> translate_numbers(const ModelFile& file, std::string_view architecture, std::span<const NumberRule> rules,
                               Metadata& metadata);

// The rules that every Llama-like config.json follows, rope scaling included.
std::span<const NumberRule> decoder_number_rules();
Result<void> translate_decoder_numbers(const ModelFile& file, std::string_view architecture, Metadata& metadata);

// "layer_types" as "<architecture>.attention.sliding_window_pattern", where config.json has it.
Result<void> translate_layer_types(const ModelFile& file, std::string_view architecture, Metadata& metadata);

// For settings that change the computation: where config.json has `key`, it must be one of `known`.
Result<void> require_known(const ModelFile& file, std::string_view key, std::initializer_list<std::string_view> known);
Result<void> require_flag(const ModelFile& file, std::string_view key, bool known);

// Adds every tensor under its translated name. A tensor that no rule knows is an error, except buffers that hold no
// weights (rotary frequencies, masks) and heads that guess further tokens ("mtp."). `prefix` is dropped where a name
// starts with it, because some checkpoints have it and some do not ("transformer.", "model.", "bert.").
Result<void> translate_names(const ModelFile& file, std::string_view prefix, std::span<const NameRule> rules,
                             Weights& weights);

}  // namespace ingot
