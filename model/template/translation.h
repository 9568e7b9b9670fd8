// Translating Hugging Face checkpoints: config.json's numbers into GGUF's keys, tensor names into GGUF's names.
#pragma once

#include <optional>

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

// What tensors are called in checkpoints: rules of one architecture's own, which win, and those that it shares. The
// first of `prefixes` that a name starts with is dropped, because some checkpoints have it and some do not
// ("transformer.", "model.", "bert.").
struct CheckpointNames {
  std::span<const std::string_view> prefixes;
  std::span<const NameRule> own;
  std::span<const NameRule> shared = {};
};

// Changes that several architectures need. The results are f32.
Result<void> add_plus_one(std::string_view name, const ConstAnyView& view, Weights& weights);  // 1 + w
// What the view shows, in one piece and of its type: of another order of axes, or of every second row. No blocks.
Result<void> add_copied(std::string_view name, const ConstAnyView& view, Weights& weights);
// The last two axes the other way round: matrices that are stored as [inputs, outputs].
Result<void> add_transposed(std::string_view name, const ConstAnyView& view, Weights& weights);
// [channels, 1, taps] as [channels, taps].
Result<void> add_convolution(std::string_view name, const ConstAnyView& view, Weights& weights);
// Nothing: what the tensor holds is added elsewhere.
Result<void> leave_out(std::string_view name, const ConstAnyView& view, Weights& weights);
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

// The rules that every Llama-like config.json follows, rope scaling included. Settings of the scaling that few models
// have are refused, but for those that the architecture reads `itself` ("truncate").
std::span<const NumberRule> decoder_number_rules();
Result<void> translate_decoder_numbers(const ModelFile& file, std::string_view architecture, Metadata& metadata,
                                       std::initializer_list<std::string_view> itself = {});

// The part of a model for text and images (or sounds) that reads and writes text: the numbers that config.json has
// under "text_config", and all tensors but those whose names start with one of `others`. The file must outlive it.
Result<ModelFile> text_part(const ModelFile& file, std::initializer_list<std::string_view> others);

// What a model has where config.json leaves it out.
void set_usual_number(Metadata& metadata, std::string_view architecture, std::string_view suffix, double value);
void set_usual_size(Metadata& metadata, std::string_view architecture, std::string_view suffix, std::int64_t value);

// 0 under the key of the same name, where config.json says null: a model that is without what others usually have.
void set_zero_where_null(const ModelFile& file, std::string_view architecture,
                         std::initializer_list<std::string_view> names, Metadata& metadata);

// For each of "layer_types", whether it is of this kind; all others must be full_attention. No kind: all must. Empty
// where config.json has no such list.
Result<std::vector<bool>> layers_of_kind(const ModelFile& file, std::string_view kind);

// Which layers slide, as "<architecture>.attention.sliding_window_pattern".
void set_sliding_layers(const std::vector<bool>& slides, std::string_view architecture, Metadata& metadata);
// By "layer_types", where config.json has it.
Result<void> translate_layer_types(const ModelFile& file, std::string_view architecture, Metadata& metadata);

// Whether a list of config.json, where it has one, holds as many numbers as it must: empty where it has none.
Result<ScalarList> number_list_of(const ModelFile& file, std::string_view key, std::size_t count);

// For settings that change the computation: where config.json has `key`, it must be one of `known`.
Result<void> require_known(const ModelFile& file, std::string_view key, std::initializer_list<std::string_view> known);
Result<void> require_flag(const ModelFile& file, std::string_view key, bool known);

// Adds every tensor under its translated name. A tensor that no rule knows is an error, except buffers that hold no
// weights (rotary frequencies, masks) and heads that guess further tokens ("mtp."); so are two of one name.
Result<void> translate_names(const ModelFile& file, const CheckpointNames& names, Weights& weights);

// The name here of a matrix that is stored the same, or transposed, and is not one of several experts'; nothing where
// no rule gives one.
std::optional<std::string> translated_name(std::string_view name, const CheckpointNames& names);

}  // namespace ingot
