#include "model/template/translation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "model/files/quoted.h"
#include "model/template/decoder_numbers.h"
#include "model/template/keys.h"

namespace ingot {
namespace {

constexpr std::array decoder_rules = {
    NumberRule{"num_hidden_layers", "block_count"},
    NumberRule{"max_position_embeddings", "context_length"},
    NumberRule{"hidden_size", "embedding_length"},
    NumberRule{"intermediate_size", "feed_forward_length"},
    NumberRule{"num_attention_heads", "attention.head_count"},
    NumberRule{"num_key_value_heads", "attention.head_count_kv"},
    NumberRule{"head_dim", "attention.key_length"},
    NumberRule{"head_dim", "attention.value_length"},
    NumberRule{"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    NumberRule{"rope_parameters.rope_theta", "rope.freq_base"},
    NumberRule{"rope_parameters.full_attention.rope_theta", "rope.freq_base"},
    NumberRule{"rope_theta", "rope.freq_base"},
    NumberRule{"rope_parameters.factor", "rope.scaling.factor"},
    NumberRule{"rope_parameters.full_attention.factor", "rope.scaling.factor"},
    NumberRule{"rope_scaling.factor", "rope.scaling.factor"},
    NumberRule{"rope_parameters.low_freq_factor", "rope.scaling.low_freq_factor"},
    NumberRule{"rope_scaling.low_freq_factor", "rope.scaling.low_freq_factor"},
    NumberRule{"rope_parameters.high_freq_factor", "rope.scaling.high_freq_factor"},
    NumberRule{"rope_scaling.high_freq_factor", "rope.scaling.high_freq_factor"},
    NumberRule{"rope_parameters.beta_fast", "rope.scaling.yarn_beta_fast"},
    NumberRule{"rope_parameters.full_attention.beta_fast", "rope.scaling.yarn_beta_fast"},
    NumberRule{"rope_scaling.beta_fast", "rope.scaling.yarn_beta_fast"},
    NumberRule{"rope_parameters.beta_slow", "rope.scaling.yarn_beta_slow"},
    NumberRule{"rope_parameters.full_attention.beta_slow", "rope.scaling.yarn_beta_slow"},
    NumberRule{"rope_scaling.beta_slow", "rope.scaling.yarn_beta_slow"},
    NumberRule{"rope_parameters.attention_factor", "rope.scaling.attn_factor"},
    NumberRule{"rope_parameters.full_attention.attention_factor", "rope.scaling.attn_factor"},
    NumberRule{"rope_scaling.attention_factor", "rope.scaling.attn_factor"},
    NumberRule{"rope_parameters.original_max_position_embeddings", "rope.scaling.original_context_length"},
    NumberRule{"rope_parameters.full_attention.original_max_position_embeddings",
               "rope.scaling.original_context_length"},
    NumberRule{"rope_scaling.original_max_position_embeddings", "rope.scaling.original_context_length"},
    NumberRule{"num_local_experts", "expert_count"},
    NumberRule{"num_experts", "expert_count"},
    NumberRule{"num_experts_per_tok", "expert_used_count"},
    NumberRule{"moe_intermediate_size", "expert_feed_forward_length"},
    NumberRule{"shared_expert_intermediate_size", "expert_shared_feed_forward_length"},
    NumberRule{"norm_topk_prob", "expert_weights_norm"},
};

// Longer numbers are nobody's; the bound keeps them within 64 bits.
constexpr std::size_t most_digits = 9;

// What a name is here.
struct Match {
  const NameRule* rule;
  std::string name;
  std::int64_t expert = -1;  // -1: of none
};

// The numbers that stand in `name` where `pattern` has "{}"; nothing where it does not fit.
std::optional<std::vector<std::string_view>> numbers_of(std::string_view name, std::string_view pattern) {
  std::vector<std::string_view> numbers;
  while (true) {
    const std::size_t hole = pattern.find("{}");
    if (hole == std::string_view::npos) break;
    if (!name.starts_with(pattern.substr(0, hole))) return std::nullopt;
    name.remove_prefix(hole);
    pattern.remove_prefix(hole + 2);
    const std::size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
    if (end == 0 || end > most_digits) return std::nullopt;
    numbers.push_back(name.substr(0, end));
    name.remove_prefix(end);
  }
  return name == pattern ? std::optional(numbers) : std::nullopt;
}

std::optional<Match> match(std::string_view name, const CheckpointNames& names) {
  const auto prefix =
      std::ranges::find_if(names.prefixes, [&](std::string_view known) { return name.starts_with(known); });
  if (prefix != names.prefixes.end()) name.remove_prefix(prefix->size());
  for (const std::span<const NameRule> rules : {names.own, names.shared}) {
    for (const NameRule& rule : rules) {
      const auto numbers = numbers_of(name, rule.from);
      if (!numbers) continue;
      Match found{&rule, std::string(rule.to)};
      const std::size_t hole = found.name.find("{}");
      if (hole != std::string::npos && !numbers->empty()) found.name.replace(hole, 2, numbers->front());
      if (numbers->size() == 2) found.expert = std::stoll(std::string(numbers->back()));
      return found;
    }
  }
  return std::nullopt;
}

// Experts by number. All of a layer's have one shape and type, and none is missing.
using Experts = std::map<std::int64_t, ConstAnyView>;

Result<void> add_stacked(const std::string& name, const Experts& experts, Weights& weights) {
  const auto count = static_cast<std::int64_t>(experts.size());
  const ConstAnyView& first = experts.begin()->second;
  if (experts.rbegin()->first != count - 1 || first.rank() != 2 || first.empty()) {
    return Error::of(ErrorCode::corrupt, name, ": expected matrices of experts 0 to ", experts.rbegin()->first,
                     ", found ", count, " of ", first.shape());
  }
  const AnyView stack = TRY(weights.add_owned(name, first.dtype(), {count, first.size(0), first.size(1)}));
  std::byte* target = stack.data();
  for (const auto& [number, view] : experts) {
    if (view.dtype() != first.dtype() || !(view.shape() == first.shape()) || !view.is_contiguous()) {
      return Error::of(ErrorCode::corrupt, name, ": expected every expert as the first, ", first.dtype(), " ",
                       first.shape(), ", found expert ", number, " as ", view.dtype(), " ", view.shape());
    }
    std::memcpy(target, view.data(), static_cast<std::size_t>(stack.byte_stride(0)));
    target += stack.byte_stride(0);
  }
  return {};
}

// A share of each head's dimensions turns.
Result<void> translate_partial_rotation(const ModelFile& file, std::string_view architecture, Metadata& metadata) {
  constexpr std::string_view newer = "rope_parameters.partial_rotary_factor";
  constexpr std::string_view older = "partial_rotary_factor";
  const std::string_view key = file.metadata().has(newer) ? newer : older;
  if (!file.metadata().has(key)) return {};
  const double share = TRY(file.metadata().number(key));
  if (!(share > 0 && share <= 1)) {
    return Error::of(ErrorCode::invalid_argument, key, ": expected a share above 0 and up to 1, found ",
                     std::to_string(share));
  }
  const Keys keys(metadata, architecture);
  const std::int64_t heads = TRY(keys.size("attention.head_count", most_width));
  const std::int64_t whole = TRY(keys.size("embedding_length", most_width)) / heads;
  const std::int64_t dimensions = TRY(keys.size_or("attention.key_length", whole, most_width));
  metadata.set_integer(keys.key("rope.dimension_count"),
                       static_cast<std::int64_t>(static_cast<double>(dimensions) * share));
  return {};
}

bool takes_no_part(std::string_view name) {
  return name.starts_with("mtp.") || name.ends_with("rotary_emb.inv_freq") || name.ends_with(".attn.bias") ||
         name.ends_with(".attn.masked_bias") || name.ends_with("embeddings.position_ids");
}

}  // namespace

Result<void> translate_numbers(const ModelFile& file, std::string_view architecture, std::span<const NumberRule> rules,
                               Metadata& metadata) {
  metadata.set_text("general.architecture", architecture);
  for (const NumberRule& rule : rules) {
    const std::string key = std::string(architecture) + "." + std::string(rule.to);
    const MetadataValue* value = file.metadata().find(rule.from);
    if (value == nullptr || value->is_list || metadata.has(key)) continue;
    if (is_integer(value->kind)) {
      metadata.set_integer(key, TRY(file.metadata().integer(rule.from)));
    } else if (value->kind == ValueKind::f32 || value->kind == ValueKind::f64) {
      metadata.set_number(key, TRY(file.metadata().number(rule.from)));
    } else if (value->kind == ValueKind::boolean) {
      metadata.set_boolean(key, TRY(file.metadata().boolean(rule.from)));
    }
  }
  return {};
}

std::span<const NumberRule> decoder_number_rules() { return decoder_rules; }

Result<void> translate_decoder_numbers(const ModelFile& file, std::string_view architecture, Metadata& metadata,
                                       std::initializer_list<std::string_view> itself) {
  const auto is_read = [&](std::string_view key) {
    return std::find(itself.begin(), itself.end(), key) != itself.end();
  };
  TRY(translate_numbers(file, architecture, decoder_rules, metadata));
  metadata.set_text(rope_style_key, "half_split");
  for (const std::string_view key : {"rope_parameters.rope_type", "rope_parameters.full_attention.rope_type",
                                     "rope_scaling.rope_type", "rope_scaling.type"}) {
    if (!file.metadata().has(key)) continue;
    const std::string_view kind = TRY(file.metadata().text(key));
    metadata.set_text(std::string(architecture) + ".rope.scaling.type", kind == "default" ? "none" : kind);
    break;
  }
  // Ways of scaling that are not computed here.
  for (const std::string_view parent : {"rope_parameters.", "rope_parameters.full_attention.", "rope_scaling."}) {
    for (const std::string_view key : {"mscale", "mscale_all_dim"}) {
      const std::string full = std::string(parent).append(key);
      if (is_read(key) || !file.metadata().has(full)) continue;
      return Error::of(ErrorCode::unsupported, full, ": expected none, found one");
    }
    if (!is_read("truncate")) TRY(require_flag(file, std::string(parent).append("truncate"), true));
  }
  return translate_partial_rotation(file, architecture, metadata);
}

Result<ModelFile> text_part(const ModelFile& file, std::initializer_list<std::string_view> others) {
  constexpr std::string_view prefix = "text_config.";
  Metadata metadata;
  for (const Metadata::Entry& entry : file.metadata().entries()) {
    if (entry.key.starts_with(prefix)) TRY(metadata.add_view(entry.key.substr(prefix.size()), entry.value));
  }
  for (const std::string_view key : file.metadata().nulls()) {
    if (key.starts_with(prefix)) metadata.set_null(key.substr(prefix.size()));
  }
  return file.part(std::move(metadata), std::span(others.begin(), others.size()));
}

void set_usual_number(Metadata& metadata, std::string_view architecture, std::string_view suffix, double value) {
  const std::string key = Keys(metadata, architecture).key(suffix);
  if (!metadata.has(key)) metadata.set_number(key, value);
}

void set_usual_size(Metadata& metadata, std::string_view architecture, std::string_view suffix, std::int64_t value) {
  const std::string key = Keys(metadata, architecture).key(suffix);
  if (!metadata.has(key)) metadata.set_integer(key, value);
}

void set_zero_where_null(const ModelFile& file, std::string_view architecture,
                         std::initializer_list<std::string_view> names, Metadata& metadata) {
  for (const std::string_view name : names) {
    if (file.metadata().is_null(name)) set_usual_number(metadata, architecture, name, 0);
  }
}

Result<std::vector<bool>> layers_of_kind(const ModelFile& file, std::string_view kind) {
  const TextList types = TRY(file.metadata().text_list_or_empty("layer_types"));
  std::vector<bool> are_of_kind;
  for (const std::string_view type : types) {
    are_of_kind.push_back(!kind.empty() && type == kind);
    if (are_of_kind.back() || type == "full_attention") continue;
    return Error::of(ErrorCode::unsupported, "layer_types: expected full_attention", kind.empty() ? "" : " or ", kind,
                     ", found ", Quoted{type});
  }
  return are_of_kind;
}

void set_sliding_layers(const std::vector<bool>& slides, std::string_view architecture, Metadata& metadata) {
  const auto values = std::make_unique<bool[]>(slides.size());  // a vector of bool has no span
  std::ranges::copy(slides, values.get());
  metadata.set_scalar_list<bool>(Keys(metadata, architecture).key("attention.sliding_window_pattern"),
                                 std::span(values.get(), slides.size()));
}

Result<void> translate_layer_types(const ModelFile& file, std::string_view architecture, Metadata& metadata) {
  const std::vector<bool> slides = TRY(layers_of_kind(file, "sliding_attention"));
  if (!slides.empty()) set_sliding_layers(slides, architecture, metadata);
  return {};
}

Result<ScalarList> number_list_of(const ModelFile& file, std::string_view key, std::size_t count) {
  const ScalarList list = TRY(file.metadata().number_list_or_empty(key));
  if (list.empty() || list.size() == count) return list;
  return Error::of(ErrorCode::corrupt, key, ": expected ", count, " numbers, found ", list.size());
}

Result<void> require_known(const ModelFile& file, std::string_view key, std::initializer_list<std::string_view> known) {
  if (!file.metadata().has(key)) return {};
  const std::string_view found = TRY(file.metadata().text(key));
  if (std::find(known.begin(), known.end(), found) != known.end()) return {};
  return Error::of(ErrorCode::unsupported, key, ": expected ", *known.begin(), ", found ", found);
}

Result<void> require_flag(const ModelFile& file, std::string_view key, bool known) {
  if (TRY(file.metadata().boolean_or(key, known)) == known) return {};
  return Error::of(ErrorCode::unsupported, key, ": expected ", known, ", found ", !known);
}

Result<void> add_mapped(std::string_view name, const ConstAnyView& view, const Shape& shape, float (*f)(float),
                        Weights& weights) {
  if (element_count(shape) != view.count() || !is_floating_point(view.dtype())) {
    return Error::of(ErrorCode::corrupt, name, ": expected as many numbers as ", shape, ", found ", view.dtype(), " ",
                     view.shape());
  }
  const AnyView copy = TRY(weights.add_owned(name, DType::f32, shape));
  auto* values = reinterpret_cast<float*>(copy.data());
  decode_all(view, values);
  std::transform(values, values + view.count(), values, f);
  return {};
}

Result<void> leave_out(std::string_view, const ConstAnyView&, Weights&) { return {}; }

Result<void> add_plus_one(std::string_view name, const ConstAnyView& view, Weights& weights) {
  return add_mapped(name, view, view.shape(), [](float w) { return 1 + w; }, weights);
}

Result<void> add_copied(std::string_view name, const ConstAnyView& view, Weights& weights) {
  if (is_block_format(view.dtype()) || view.rank() == 0) {
    return Error::of(ErrorCode::corrupt, name, ": expected a tensor of single numbers, found ", view.dtype(), " ",
                     view.shape());
  }
  const AnyView copy = TRY(weights.add_owned(name, view.dtype(), view.shape()));
  const auto bytes = static_cast<std::size_t>(block_bytes(view.dtype()));
  std::byte* target = copy.data();
  for_each_block(view, [&](std::int64_t offset) {
    std::memcpy(target, view.data() + offset, bytes);
    target += bytes;
  });
  return {};
}

Result<void> add_transposed(std::string_view name, const ConstAnyView& view, Weights& weights) {
  const int rank = view.rank();
  if (rank < 2) return Error::of(ErrorCode::corrupt, name, ": expected a matrix, found ", view.shape());
  Shape shape = view.shape();
  Strides strides = view.byte_strides();
  std::swap(shape[rank - 1], shape[rank - 2]);
  std::swap(strides[rank - 1], strides[rank - 2]);
  return add_copied(name, ConstAnyView(view.data(), view.dtype(), shape, strides), weights);
}

Result<void> add_convolution(std::string_view name, const ConstAnyView& view, Weights& weights) {
  if (view.rank() != 3 || view.size(1) != 1) {
    return Error::of(ErrorCode::corrupt, name, ": expected [channels, 1, taps], found ", view.shape());
  }
  return add_mapped(name, view, {view.size(0), view.size(2)}, [](float w) { return w; }, weights);
}

std::optional<std::string> translated_name(std::string_view name, const CheckpointNames& names) {
  std::optional<Match> found = match(name, names);
  if (!found || found->expert >= 0) return std::nullopt;
  if (found->rule->change != nullptr && found->rule->change != add_transposed) return std::nullopt;
  return std::move(found->name);
}

Result<void> translate_names(const ModelFile& file, const CheckpointNames& names, Weights& weights) {
  std::map<std::string, Experts> stacks;
  for (const StoredTensor& tensor : file.tensors()) {
    if (takes_no_part(tensor.name)) continue;
    const std::optional<Match> found = match(tensor.name, names);
    if (!found) {
      return Error::of(ErrorCode::unsupported, "expected a tensor that this architecture has, found ", tensor.name);
    }
    if (weights.has(found->name)) {
      return Error::of(ErrorCode::corrupt, "expected one tensor that is ", std::string_view(found->name), ", found ",
                       tensor.name, " as well");
    }
    if (found->expert >= 0) {
      stacks[found->name].emplace(found->expert, tensor.view);
    } else if (found->rule->change != nullptr) {
      TRY(found->rule->change(found->name, tensor.view, weights));
    } else {
      TRY(weights.add(found->name, tensor.view));
    }
  }
  for (const auto& [name, experts] : stacks) TRY(add_stacked(name, experts, weights));
  return {};
}

}  // namespace ingot
