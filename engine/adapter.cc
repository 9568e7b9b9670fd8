#include "engine/adapter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "model/files/quoted.h"
#include "model/template/decoder_numbers.h"
#include "model/template/head_rows.h"
#include "model/template/keys.h"
#include "model/template/translation.h"

namespace ingot {
namespace {

// How B's rows have to be moved where the pairs that turn lie otherwise in the adapter than in the model.
enum class Order : std::uint8_t { as_in_model, halves_to_neighbours, neighbours_to_halves };

struct Fit {
  const ModelArchitecture* architecture;
  std::vector<AdaptableWeight> weights;
  Order order = Order::as_in_model;
  TurnedHeads heads;
};

Result<Fit> fit_of(const Model& model, AdapterFile::Form form) {
  const Metadata& metadata = model.metadata();
  Fit fit = {.architecture = TRY(find_architecture(model.facts().architecture)), .weights = {}, .heads = {}};
  // How a pass reads weights does not depend on which one it is.
  CircuitBuilder builder(model.weights(), {.runs = {1}, .outputs = 1}, {.longest = 1});
  model.form().emit(builder);
  fit.weights = find_adaptable_weights(TRY(builder.finish()));
  const PairStyle in_model = TRY(read_pair_style(metadata, fit.architecture->pairs_in_gguf));
  const PairStyle in_adapter =
      form == AdapterFile::Form::gguf ? fit.architecture->pairs_in_gguf : fit.architecture->pairs_in_checkpoints;
  if (in_model == in_adapter) return fit;
  const bool has_halves = in_adapter == PairStyle::half_split;
  fit.order = has_halves ? Order::halves_to_neighbours : Order::neighbours_to_halves;
  fit.heads = TRY(turned_heads(Keys(metadata, model.facts().architecture)));
  return fit;
}

// The model's name of a weight that an adapter made beside a checkpoint names.
Result<std::string> name_in_model(const std::string& weight, const ModelArchitecture& architecture) {
  if (architecture.names == nullptr) {
    return Error::of(ErrorCode::unsupported, "expected an adapter as .gguf for ", architecture.name,
                     " models, found one with a checkpoint's names, which are not translated for them");
  }
  std::optional<std::string> name = translated_name(weight, architecture.names());
  if (name) return std::move(*name);
  return Error::of(ErrorCode::unsupported, Quoted{weight}, ": expected a matrix that ", architecture.name,
                   " models have, found another");
}

Result<ConstAnyView> moved_rows(const std::string& name, const ConstAnyView& view, std::int64_t heads, Order order,
                                Weights& changed) {
  const std::int64_t rows = view.size(0), per_head = heads > 0 ? rows / heads : 0;
  if (per_head < 2 || rows % heads != 0 || per_head % 2 != 0) {
    return Error::of(ErrorCode::corrupt, Quoted{name}, ": expected rows of ", heads, " heads in pairs, found ", rows);
  }
  const AnyView target = TRY(changed.add_owned(name, view.dtype(), view.shape()));
  const auto bytes = static_cast<std::size_t>(row_bytes(view.dtype(), view.size(1)));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t in_halves = row_before_interleaving(row, per_head);
    const bool to_halves = order == Order::neighbours_to_halves;
    std::memcpy(target.row(to_halves ? in_halves : row), view.row(to_halves ? row : in_halves), bytes);
  }
  return ConstAnyView(target);
}

// A GGUF file has the numbers that checkpoints multiply with in its weights, and says them nowhere.
Result<void> require_factors(const ModelArchitecture& architecture, const Model& model) {
  if (architecture.row_factors == nullptr || model.file().format() == ModelFile::Format::hugging_face) return {};
  return Error::of(ErrorCode::unsupported, "expected a ", architecture.name,
                   " model as a folder, whose config.json has the multipliers that an adapter of peft's goes through, ",
                   "found one as GGUF: give the folder, or the adapter as .gguf");
}

Result<ConstAnyView> multiplied_rows(const std::string& name, const ConstAnyView& view, std::span<const double> factors,
                                     Weights& changed) {
  const std::int64_t rows = view.size(0);
  if (factors.size() != 1 && std::ssize(factors) != rows) {
    return Error::of(ErrorCode::corrupt, Quoted{name}, ": expected ", factors.size(), " rows, found ", rows);
  }
  const AnyView target = TRY(changed.add_owned(name, DType::f32, view.shape()));
  auto* values = reinterpret_cast<float*>(target.data());
  decode_all(view, values);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double factor = factors[factors.size() == 1 ? 0 : static_cast<std::size_t>(row)];
    for (std::int64_t index = 0; index < view.size(1); ++index) {
      float& value = values[row * view.size(1) + index];
      value = static_cast<float>(value * factor);
    }
  }
  return ConstAnyView(target);
}

Error does_not_fit(const std::string& name, const Model& model) {
  if (!model.weights().has(name) && model.weights().find_stored(name).view == nullptr) {
    return Error::of(ErrorCode::not_found, Quoted{name},
                     ": expected a weight of the model, found that it has none of this name: the adapter is another "
                     "model's");
  }
  return Error::of(ErrorCode::unsupported, Quoted{name},
                   ": expected a matrix that products read (not a table of embeddings, nor of experts), found another");
}

}  // namespace

Result<AdapterScales> checked_scales(std::span<const float> scales, std::size_t count) {
  AdapterScales kept(scales.begin(), scales.end());
  for (float& scale : kept) {
    if (!(std::fabs(scale) <= largest_adapter_scale)) {
      return Error::of(ErrorCode::out_of_range, "expected scales of adapters from -1000 to 1000, found ",
                       std::to_string(scale));
    }
    if (scale == 0) scale = 0;  // of both zeros, the one
  }
  while (!kept.empty() && kept.back() == 0) kept.pop_back();
  if (kept.size() <= count) return kept;
  return Error::of(ErrorCode::out_of_range, "expected one of ", count, " adapters, found number ", kept.size() - 1);
}

std::uint64_t salt_with(std::uint64_t secret, std::uint64_t salt, const AdapterScales& scales) {
  for (const float scale : scales) {
    salt = RandomNumbers(RandomNumbers(secret ^ salt).next() ^ std::bit_cast<std::uint32_t>(scale)).next();
  }
  return salt;
}

Result<std::shared_ptr<const Adapter>> Adapter::open(const std::string& path, const Model& model) {
  AdapterFile file = TRY(AdapterFile::open(path));
  std::shared_ptr<Adapter> adapter(new Adapter(path, std::move(file)));
  const Result<void> fits = adapter->fit(model);
  if (!fits.ok()) return fits.error().within(Quoted{path});
  return std::shared_ptr<const Adapter>(std::move(adapter));
}

Result<void> Adapter::fit(const Model& model) {
  const std::string& architecture = model.facts().architecture;
  if (form() == AdapterFile::Form::gguf && file_.architecture() != architecture) {
    return Error::of(ErrorCode::unsupported, "general.architecture: expected an adapter of ",
                     std::string_view(architecture), ", as the model is, found one of ", Quoted{file_.architecture()});
  }
  const Fit fit = TRY(fit_of(model, form()));
  const bool is_checkpoints = form() == AdapterFile::Form::peft;
  if (is_checkpoints) TRY(require_factors(*fit.architecture, model));
  for (const AdapterPair& pair : file_.pairs()) {
    const std::string name = is_checkpoints ? TRY(name_in_model(pair.weight, *fit.architecture)) : pair.weight;
    const auto weight = std::ranges::find(fit.weights, name, &AdaptableWeight::name);
    if (weight == fit.weights.end()) return does_not_fit(name, model);
    const Shape wanted = {pair.second.size(0), pair.first.size(1)};
    if (!(weight->shape == wanted)) {
      return Error::of(ErrorCode::invalid_argument, Quoted{name}, ": expected an adapter of the model's ",
                       weight->shape, ", found one of ", wanted, ": it is another model's");
    }
    WeightAdapter adapter = {.first = pair.first, .second = pair.second, .factor = pair.factor, .mark = {}};
    const std::int64_t heads = fit.order == Order::as_in_model ? 0 : fit.heads.of(name);
    if (heads > 0) adapter.second = TRY(moved_rows(name, pair.second, heads, fit.order, changed_));
    if (is_checkpoints && fit.architecture->row_factors != nullptr) {
      const std::vector<double> factors = TRY(fit.architecture->row_factors(model.file(), model.metadata(), name));
      adapter.second = TRY(multiplied_rows(pair.weight, adapter.second, factors, changed_));
    }
    if (!pairs_.emplace(name, adapter).second) {
      return Error::of(ErrorCode::corrupt, Quoted{pair.weight}, ": expected one adapter of ", std::string_view(name),
                       ", found two");
    }
  }
  return {};
}

std::int64_t Adapter::largest_rank() const {
  std::int64_t largest = 0;
  for (const auto& [name, pair] : pairs_) largest = std::max(largest, pair.first.size(0));
  return largest;
}

std::int64_t Adapter::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [name, pair] : pairs_) {
    for (const ConstAnyView* view : {&pair.first, &pair.second}) sum += row_bytes(view->dtype(), view->count());
  }
  return sum;
}

const WeightAdapter* Adapter::find(std::string_view weight) const {
  const auto found = pairs_.find(weight);
  return found == pairs_.end() ? nullptr : &found->second;
}

FindAdapters finder_of(std::span<const std::shared_ptr<const Adapter>> adapters, const AdapterScales& scales) {
  return [adapters, &scales](std::string_view weight) {
    std::vector<WeightAdapter> found;
    for (std::size_t index = 0; index < scales.size(); ++index) {
      const WeightAdapter* pair = scales[index] == 0 ? nullptr : adapters[index]->find(weight);
      if (pair == nullptr) continue;
      found.push_back(*pair);
      found.back().factor *= double{scales[index]};
      found.back().mark = "@" + std::to_string(index);
    }
    return found;
  };
}

}  // namespace ingot
