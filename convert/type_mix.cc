#include "convert/type_mix.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <tuple>

#include "model/files/quoted.h"

namespace ingot {
namespace {

constexpr std::array<TypeMix, 23> mixes = {{
    {Mix::f32, "F32", DType::f32, 0},
    {Mix::f16, "F16", DType::f16, 1},
    {Mix::bf16, "BF16", DType::bf16, 32},
    {Mix::q4_0, "Q4_0", DType::q4_0, 2},
    {Mix::q4_1, "Q4_1", DType::q4_1, 3},
    {Mix::q5_0, "Q5_0", DType::q5_0, 8},
    {Mix::q5_1, "Q5_1", DType::q5_1, 9},
    {Mix::q8_0, "Q8_0", DType::q8_0, 7},
    {Mix::q2_k, "Q2_K", DType::q2_k, 10},
    {Mix::q3_k_s, "Q3_K_S", DType::q3_k, 11},
    {Mix::q3_k_m, "Q3_K_M", DType::q3_k, 12},
    {Mix::q3_k_l, "Q3_K_L", DType::q3_k, 13},
    {Mix::q4_k_s, "Q4_K_S", DType::q4_k, 14},
    {Mix::q4_k_m, "Q4_K_M", DType::q4_k, 15},
    {Mix::q5_k_s, "Q5_K_S", DType::q5_k, 16},
    {Mix::q5_k_m, "Q5_K_M", DType::q5_k, 17},
    {Mix::q6_k, "Q6_K", DType::q6_k, 18},
    {Mix::iq4_nl, "IQ4_NL", DType::iq4_nl, 25},
    {Mix::iq4_xs, "IQ4_XS", DType::iq4_xs, 30},
    {Mix::tq1_0, "TQ1_0", DType::tq1_0, 36},
    {Mix::tq2_0, "TQ2_0", DType::tq2_0, 37},
    // GGUF has one number for both.
    {Mix::mxfp4, "MXFP4", DType::mxfp4, 38},
    {Mix::mxfp4_moe, "MXFP4_MOE", DType::mxfp4, 38},
}};

// Mixes whose formats are read and not written (has_encoder in tensor/block_codec.h): those of grids.
constexpr std::array<std::string_view, 10> grid_mixes = {"IQ1_S", "IQ1_M",   "IQ2_XXS", "IQ2_XS", "IQ2_S",
                                                         "IQ2_M", "IQ3_XXS", "IQ3_XS",  "IQ3_S",  "IQ3_M"};

enum class Role : std::uint8_t { embedding, output, value, key, attention_output, down, other };

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Role role_of(std::string_view name) {
  if (name == "output.weight") return Role::output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") return Role::embedding;
  // Matrices that hold the values among others count as values.
  for (const std::string_view part : {"attn_qkv.weight", "attn_kv_b.weight", "attn_v.weight"}) {
    if (contains(name, part)) return Role::value;
  }
  if (contains(name, "attn_k.weight")) return Role::key;
  if (contains(name, "attn_output.weight")) return Role::attention_output;
  return contains(name, "ffn_down") ? Role::down : Role::other;
}

// Routers, position tables and convolutions are small, and a model is sensitive
// to them.
constexpr std::array<std::string_view, 13> kept_parts = {
    "_norm.weight",   "ffn_gate_inp.weight",  "ssm_conv1d", "shortconv.conv.weight", "altup",
    "laurel",         "per_layer_model_proj", "time_mix_",  "attn_rel_b.weight",     "position_embd",
    "indexer.k_proj", "indexer.q_proj",       "token_types"};

// Of the time_mix_ matrices, these are large.
constexpr std::array<std::string_view, 5> large_mixes = {"time_mix_key", "time_mix_value", "time_mix_receptance",
                                                         "time_mix_gate", "time_mix_output"};

bool is_quantized(const NamedShape& tensor) {
  // A matrix of one row is a vector.
  const bool is_matrix = tensor.shape.rank() >= 2 && element_count(tensor.shape) > tensor.shape.last();
  if (!is_matrix || !tensor.name.ends_with("weight")) return false;
  for (const std::string_view part : large_mixes) {
    if (contains(tensor.name, part)) return true;
  }
  return std::none_of(kept_parts.begin(), kept_parts.end(),
                      [&](std::string_view part) { return contains(tensor.name, part); });
}

// The first and the last eighth of the layers, and every third between.
bool deserves_more_bits(std::int64_t layer, std::int64_t layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

class Rules {
 public:
  Rules(const TypeMix& mix, const MixFacts& facts, std::span<const NamedShape> tensors)
      : mix_(mix.mix), base_(mix.base), facts_(facts), is_falcon_(facts.architecture == "falcon") {
    for (const NamedShape& tensor : tensors) {
      const Role role = role_of(tensor.name);
      value_count_ += role == Role::value ? 1 : 0;
      is_tied_ = is_tied_ && role != Role::output;
    }
  }

  // Must be asked in the order of layers: the rules count the matrices of a
  // kind.
  DType choose(const NamedShape& tensor) {
    const Role role = role_of(tensor.name);
    // A tied embedding is the output's matrix too.
    if (role == Role::output || (is_tied_ && role == Role::embedding)) return for_output(tensor);
    if (mix_ == Mix::mxfp4_moe) {
      return tensor.shape.rank() > 2 && tensor.shape.last(2) > 1 ? DType::mxfp4 : DType::q8_0;
    }
    if (role == Role::embedding && (mix_ == Mix::tq1_0 || mix_ == Mix::tq2_0)) return DType::q4_k;
    switch (role) {
      case Role::value: return for_value(values_++);
      case Role::key: return facts_.experts == 8 ? DType::q8_0 : base_;
      case Role::down: {
        const std::int64_t counted = downs_++;
        // Experts have several of these a layer.
        const std::int64_t named = layer_of(tensor.name);
        return for_down(facts_.experts > 1 && named >= 0 ? named : counted);
      }
      case Role::attention_output: return for_attention_output();
      default: return base_;
    }
  }

 private:
  DType for_output(const NamedShape& tensor) const {
    if (mix_ == Mix::mxfp4_moe || is_falcon_ || tensor.shape.last() % block_elements(base_) != 0) return DType::q8_0;
    return base_ == DType::q8_0 ? DType::q8_0 : DType::q6_k;
  }

  DType for_value(std::int64_t index) const {
    if (facts_.experts == 8) return DType::q8_0;  // its share of such a file is negligible
    const DType chosen = plain_value(index);
    return is_70b() && (chosen == DType::q3_k || chosen == DType::q4_k) ? DType::q5_k : chosen;
  }

  DType plain_value(std::int64_t index) const {
    const bool is_shared = facts_.heads_per_key_head() >= 4;
    switch (mix_) {
      case Mix::q2_k: return is_shared ? DType::q4_k : DType::q3_k;
      case Mix::q3_k_m: return index < 2 ? DType::q5_k : DType::q4_k;
      case Mix::q3_k_l: return DType::q5_k;
      case Mix::iq4_nl:
      case Mix::iq4_xs: return is_shared ? DType::q5_k : base_;
      case Mix::q4_k_s: return index < 4 ? DType::q5_k : base_;
      case Mix::q4_k_m:
      case Mix::q5_k_m: return deserves_more_bits(index, value_count_) ? DType::q6_k : base_;
      default: return base_;
    }
  }

  DType for_down(std::int64_t layer) const {
    const std::int64_t layers = facts_.layers;
    const bool more = deserves_more_bits(layer, layers);
    switch (mix_) {
      case Mix::q2_k: return DType::q3_k;
      case Mix::q3_k_m:
        if (layer < layers / 16) return DType::q5_k;
        return !is_falcon_ || more ? DType::q4_k : DType::q3_k;
      case Mix::q3_k_l: return is_falcon_ ? DType::q4_k : DType::q5_k;
      case Mix::q4_k_m:
        if (is_falcon_ && layer >= layers / 16) return more ? DType::q5_k : DType::q4_k;
        return is_falcon_ || more ? DType::q6_k : base_;
      case Mix::q5_k_m: return more ? DType::q6_k : base_;
      case Mix::q4_k_s: return !is_falcon_ && layer < layers / 8 ? DType::q5_k : base_;
      case Mix::iq4_nl:
      case Mix::iq4_xs: return layer < layers / 8 ? DType::q5_k : base_;
      default: return base_;
    }
  }

  DType for_attention_output() const {
    if (is_falcon_) return mix_ == Mix::q3_k_l ? DType::q4_k : base_;
    if (facts_.experts == 8) {
      const bool gains = mix_ == Mix::q2_k || mix_ == Mix::q3_k_s || mix_ == Mix::q3_k_m || mix_ == Mix::iq4_nl ||
                         mix_ == Mix::iq4_xs || mix_ == Mix::q4_k_s || mix_ == Mix::q4_k_m;
      return gains ? DType::q5_k : base_;
    }
    switch (mix_) {
      case Mix::q2_k: return DType::q3_k;
      case Mix::q3_k_m: return DType::q4_k;
      case Mix::q3_k_l: return DType::q5_k;
      default: return base_;
    }
  }

  // Models of this size, whose value matrices are an eighth of their queries'.
  bool is_70b() const {
    if (facts_.layers != 80) return false;
    if (facts_.architecture == "llama") return facts_.heads != facts_.key_heads;
    return facts_.architecture == "qwen2" || facts_.architecture == "deci" || facts_.architecture == "olmo";
  }

  Mix mix_;
  DType base_;
  const MixFacts& facts_;
  bool is_falcon_;
  bool is_tied_ = true;
  std::int64_t value_count_ = 0;
  std::int64_t values_ = 0;
  std::int64_t downs_ = 0;
};

DType smaller_blocks(DType dtype) {
  switch (dtype) {
    case DType::q2_k:
    case DType::q3_k: return DType::q4_0;
    case DType::q4_k: return DType::q5_0;
    case DType::q5_k: return DType::q5_1;
    case DType::q6_k: return DType::q8_0;
    case DType::iq4_xs: return DType::iq4_nl;
    case DType::tq1_0:
    case DType::tq2_0: return DType::q4_0;
    default: return DType::f16;
  }
}

TypeChoice fitted(DType dtype, std::int64_t row) {
  TypeChoice choice{dtype};
  while (row % block_elements(*choice.dtype) != 0) choice = {smaller_blocks(*choice.dtype), true};
  return choice;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return std::toupper(letter); });
  return result;
}

// A number, or the first layer's where every layer has its own.
std::int64_t first_integer(const Metadata& metadata, const std::string& key) {
  const MetadataValue* value = metadata.find(key);
  if (value == nullptr || !is_integer(value->kind) || value->size() == 0) return 0;
  return ScalarList(value->kind, value->bytes).integer(0);
}

}  // namespace

std::span<const TypeMix> all_type_mixes() { return mixes; }

Result<const TypeMix*> find_type_mix(std::string_view name) {
  std::string wanted = upper(name);
  if (std::ranges::find(grid_mixes, wanted) != grid_mixes.end()) {
    return Error::of(ErrorCode::unsupported, "expected a format that has an encoder, found ", wanted,
                     ", whose codes are points of a grid: which point serves is known only with measures of how much "
                     "each weight matters; IQ4_XS and Q2_K to Q6_K do without, and files that have it are read");
  }
  if (wanted == "Q3_K" || wanted == "Q4_K" || wanted == "Q5_K") wanted += "_M";
  if (wanted == "NVFP4") {
    return Error::of(
        ErrorCode::unsupported,
        "expected a format that has an encoder, found NVFP4, whose weights need a "
        "scale of the whole tensor beside their blocks; MXFP4 does without, and files that have it are read");
  }
  std::string known;
  for (const TypeMix& mix : mixes) {
    if (mix.name == wanted) return &mix;
    known += (known.empty() ? "" : ", ") + std::string(mix.name);
  }
  return Error::of(ErrorCode::not_found, "expected one of ", known, ", found ", Quoted{name});
}

MixFacts read_mix_facts(const Metadata& metadata) {
  const Result<std::string_view> architecture = metadata.text("general.architecture");
  MixFacts facts;
  if (!architecture.ok()) return facts;
  facts.architecture = architecture.value();
  facts.layers = first_integer(metadata, facts.architecture + ".block_count");
  facts.heads = first_integer(metadata, facts.architecture + ".attention.head_count");
  const std::string key_heads = facts.architecture + ".attention.head_count_kv";
  facts.key_heads = metadata.has(key_heads) ? first_integer(metadata, key_heads) : facts.heads;
  facts.experts = first_integer(metadata, facts.architecture + ".expert_count");
  return facts;
}

std::vector<TypeChoice> choose_types(const TypeMix& mix, const MixFacts& facts, MixRules rules,
                                     std::span<const NamedShape> tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    const std::string_view left_name = tensors[left].name;
    const std::string_view right_name = tensors[right].name;
    return std::tuple(layer_of(left_name), left_name) < std::tuple(layer_of(right_name), right_name);
  });
  std::vector<TypeChoice> choices(tensors.size());
  Rules chooser(mix, facts, tensors);
  for (const std::size_t index : order) {
    const NamedShape& tensor = tensors[index];
    if (!is_quantized(tensor)) continue;
    const bool has_rules = rules == MixRules::usual && is_block_format(mix.base);
    choices[index] = fitted(has_rules ? chooser.choose(tensor) : mix.base, tensor.shape.last());
  }
  return choices;
}

std::int64_t layer_of(std::string_view tensor_name) {
  constexpr std::string_view prefix = "blk.";
  if (!tensor_name.starts_with(prefix)) return -1;
  tensor_name.remove_prefix(prefix.size());
  std::int64_t layer = -1;
  const auto [end, error] = std::from_chars(tensor_name.data(), tensor_name.data() + tensor_name.size(), layer);
  const bool is_number = error == std::errc() && end != tensor_name.data() + tensor_name.size() && *end == '.';
  return is_number ? layer : -1;
}

}  // namespace ingot
