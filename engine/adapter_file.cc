#include "engine/adapter_file.h"

#include <cmath>
#include <filesystem>
#include <map>

#include "engine/peft_settings.h"
#include "model/files/quoted.h"
#include "model/files/weights_of_folder.h"
#include "model/plan/adapters.h"

namespace ingot {
namespace {

constexpr std::string_view settings_name = "adapter_config.json";
constexpr std::string_view tensors_name = "adapter_model.safetensors";

// How a form names the two matrices of a weight.
struct Naming {
  std::string_view prefix, first, second;
  std::string_view behind;  // what the weight's name has in place of them
};
constexpr Naming of_gguf = {"", first_adapter_suffix, second_adapter_suffix, ""};
constexpr Naming of_peft = {"base_model.model.", ".lora_A.weight", ".lora_B.weight", ".weight"};

// The weight's name between the prefix and the suffix, which may not share letters; nothing where there is none.
std::optional<std::string> weight_between(std::string_view name, const Naming& naming, std::string_view suffix) {
  if (!name.starts_with(naming.prefix)) return std::nullopt;
  name.remove_prefix(naming.prefix.size());
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return std::nullopt;
  name.remove_suffix(suffix.size());
  return std::string(name).append(naming.behind);
}

// GGUF's writers drop an outer axis of one: A of rank 1 is a vector then.
ConstAnyView as_matrix(const ConstAnyView& view) {
  if (view.rank() != 1) return view;
  return {view.data(), view.dtype(), {1, view.size(0)}};
}

bool is_multiplied(DType dtype) { return is_floating_point(dtype) || is_block_format(dtype); }

Result<std::vector<AdapterPair>> pairs_of(const StoredTensors& tensors, const Naming& naming) {
  std::map<std::string, AdapterPair> pairs;
  for (const StoredTensor& tensor : tensors.all()) {
    std::optional<std::string> weight = weight_between(tensor.name, naming, naming.first);
    const bool is_first = weight.has_value();
    if (!is_first) weight = weight_between(tensor.name, naming, naming.second);
    if (!weight) {
      return Error::of(ErrorCode::unsupported, Quoted{tensor.name}, ": expected only tensors named ", naming.prefix,
                       "...", naming.first, " and ", naming.second, ", found one that is not, which would be left out");
    }
    if (!is_multiplied(tensor.view.dtype())) {
      return Error::of(ErrorCode::unsupported, Quoted{tensor.name},
                       ": expected f32, f16, bf16 or a block format, found ", tensor.view.dtype());
    }
    AdapterPair& pair = pairs[*weight];
    pair.weight = std::move(*weight);
    (is_first ? pair.first : pair.second) = is_first ? as_matrix(tensor.view) : tensor.view;
  }
  std::vector<AdapterPair> found;
  for (auto& [weight, pair] : pairs) found.push_back(std::move(pair));
  return found;
}

}  // namespace

Result<void> AdapterFile::check_pairs() const {
  for (const AdapterPair& pair : pairs_) {
    const bool are_both = pair.first.data() != nullptr && pair.second.data() != nullptr;
    const bool fits = are_both && pair.first.rank() == 2 && pair.second.rank() == 2 && !pair.first.empty() &&
                      !pair.second.empty() && pair.first.size(0) == pair.second.size(1);
    if (!are_both) {
      return Error::of(ErrorCode::corrupt, Quoted{pair.weight}, ": expected two matrices of an adapter, found only ",
                       pair.first.data() != nullptr ? "the first" : "the second");
    }
    if (!fits) {
      return Error::of(ErrorCode::corrupt, Quoted{pair.weight},
                       ": expected matrices [rank, inputs] and [outputs, rank] of one rank, found ", pair.first.shape(),
                       " and ", pair.second.shape());
    }
    if (!(std::fabs(pair.factor) <= largest_adapter_factor)) {
      return Error::of(ErrorCode::corrupt, Quoted{pair.weight}, ": expected an alpha of at most ",
                       static_cast<std::int64_t>(largest_adapter_factor), " times the rank, found ",
                       std::to_string(pair.factor), " times");
    }
  }
  if (!pairs_.empty()) return {};
  return Error::of(ErrorCode::corrupt, "expected tensors of an adapter, found none");
}

Result<void> AdapterFile::read_gguf() {
  const Metadata& metadata = gguf_->metadata();
  for (const auto& [key, wanted] :
       {std::pair<std::string_view, std::string_view>{"general.type", "adapter"}, {"adapter.type", "lora"}}) {
    const std::string_view found = TRY(metadata.text_or(key, "model"));
    if (found == wanted) continue;
    return Error::of(ErrorCode::unsupported, key, ": expected ", wanted, ", found ", Quoted{found});
  }
  if (metadata.has("adapter.alora.invocation_tokens")) {
    return Error::of(ErrorCode::unsupported,
                     "adapter.alora.invocation_tokens: expected an adapter of the whole text, found one that tokens "
                     "switch on");
  }
  if (TRY(metadata.integer_or("split.count", 1)) > 1) {
    return Error::of(ErrorCode::unsupported, "split.count: expected an adapter in one file, found one of several");
  }
  architecture_ = TRY(metadata.text("general.architecture"));
  const double alpha = TRY(metadata.number_or("adapter.lora.alpha", 0));
  tensors_ = TRY(gguf_->tensors());
  pairs_ = TRY(pairs_of(tensors_, of_gguf));
  TRY(check_pairs());
  // Without an alpha what was learnt stands by itself.
  for (AdapterPair& pair : pairs_) pair.factor = alpha == 0 ? 1 : alpha / static_cast<double>(pair.first.size(0));
  return check_pairs();
}

Result<void> AdapterFile::read_peft(std::string_view text) {
  Result<PeftSettings> settings = PeftSettings::read(text);
  if (!settings.ok()) return settings.error().within(settings_name);
  tensors_ = TRY(safetensors_->tensors());
  pairs_ = TRY(pairs_of(tensors_, of_peft));
  TRY(check_pairs());
  for (AdapterPair& pair : pairs_) {
    const std::string_view module = std::string_view(pair.weight).substr(0, pair.weight.size() - of_peft.behind.size());
    pair.factor = TRY(settings.value().factor(module, pair.first.size(0)));
  }
  return check_pairs();
}

Result<AdapterFile> AdapterFile::open(const std::string& path) {
  AdapterFile file;
  Result<void> read;
  std::error_code ignored;
  if (exists(inside(path, settings_name))) {
    if (!exists(inside(path, tensors_name))) {
      return Error::of(ErrorCode::not_found, Quoted{path}, ": expected ", tensors_name, " beside ", settings_name,
                       ", found none: an adapter in another form, such as adapter_model.bin, has to be saved again");
    }
    file.form_ = Form::peft;
    const MappedFile settings = TRY(MappedFile::open(inside(path, settings_name)));
    file.safetensors_ = TRY(SafetensorsFile::open(inside(path, tensors_name)));
    read = file.read_peft(settings.text());
  } else if (std::filesystem::is_directory(path, ignored)) {
    return Error::of(ErrorCode::not_found, Quoted{path}, ": expected a .gguf file or a folder with ", settings_name,
                     ", found a folder without");
  } else {
    file.gguf_ = TRY(GgufFile::open(path));
    read = file.read_gguf();
  }
  if (!read.ok()) return read.error().within(Quoted{path});
  return file;
}

}  // namespace ingot
