#include <algorithm>
#include <array>
#include <set>

#include "model/files/quoted.h"
#include "model/template/keys.h"
#include "model/template/template.h"

namespace ingot {
namespace {

// Left out on purpose, as other readers of GGUF leave them out.
bool takes_no_part(std::string_view name) {
  // Rotations that follow from the numbers, as converters of old wrote them beside the weights.
  if (name.ends_with(".attn_rot_embd.weight") || name.ends_with(".attn_rot_embd")) return true;
  // Heads of encoders that rank or classify: they read the hidden states that are the result here.
  return name.starts_with("cls.");
}

// Of the two lists of rotary factors one is read, by how long a sequence may become.
bool is_read_in_pairs(std::string_view name, const std::set<std::string_view>& read) {
  constexpr std::array<std::string_view, 2> factors = {"rope_factors_long.weight", "rope_factors_short.weight"};
  const bool is_one = std::find(factors.begin(), factors.end(), name) != factors.end();
  return is_one &&
         std::any_of(factors.begin(), factors.end(), [&](std::string_view one) { return read.contains(one); });
}

// Layers behind the model's own guess further tokens; block_count counts them too (decoder_numbers.cc).
Result<bool> is_of_guessing_layer(std::string_view name, const ModelFacts& facts, const Metadata& metadata) {
  const std::int64_t guessing = TRY(Keys(metadata, facts.architecture).size_or("nextn_predict_layers", 0, most_layers));
  for (std::int64_t layer = facts.layers; layer < facts.layers + guessing; ++layer) {
    if (name.starts_with(layer_prefix(static_cast<int>(layer)))) return true;
  }
  return false;
}

// Layers that take the keys and values of another have weights for their own in many files.
Result<bool> is_of_shared_keys(std::string_view name, const ModelFacts& facts, const Metadata& metadata) {
  const std::int64_t shared =
      TRY(Keys(metadata, facts.architecture).size_or("attention.shared_kv_layers", 0, most_layers));
  for (std::int64_t layer = std::max<std::int64_t>(facts.layers - shared, 0); layer < facts.layers; ++layer) {
    const std::string prefix = layer_prefix(static_cast<int>(layer));
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    return name == "attn_k.weight" || name == "attn_v.weight" || name == "attn_k_norm.weight";
  }
  return false;
}

}  // namespace

Result<void> require_all_read(const Template& form, const ModelSource& source) {
  const ModelFacts& facts = form.facts();
  CircuitBuilder builder(source.weights, {.runs = {1}, .outputs = 1}, {.longest = facts.context});
  form.emit(builder);
  const Circuit circuit = TRY(builder.finish());
  std::set<std::string_view> read;
  for (const CircuitTensor& tensor : circuit.tensors) {
    if (tensor.storage == Storage::weight) read.insert(tensor.name);
  }
  for (const auto& [name, view] : source.weights.all()) {
    if (read.contains(name) || takes_no_part(name) || is_read_in_pairs(name, read)) continue;
    if (TRY(is_of_guessing_layer(name, facts, source.metadata))) continue;
    if (TRY(is_of_shared_keys(name, facts, source.metadata))) continue;
    return Error::of(ErrorCode::unsupported, "expected tensors that a model of architecture ", facts.architecture,
                     " has, found ", Quoted{name}, ", which nothing reads");
  }
  return {};
}

}  // namespace ingot
