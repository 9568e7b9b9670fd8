#include "engine/model.h"

#include <filesystem>
#include <system_error>

#include "engine/default_model.h"
#include "model/files/gguf_pieces.h"
#include "model/files/json_metadata.h"
#include "model/files/quoted.h"
#include "model/template/companions.h"
#include "model/template/embedder.h"
#include "model/tokenizer/tokenizer_file.h"

namespace ingot {
namespace {

// What generation_config.json adds to the tokens that end an answer: one id, or a list of them.
Result<void> add_end_tokens(const ModelFile& file, TokenizerDescription& description) {
  const auto text = file.companion(ModelFile::Companion::generation_config);
  if (!text) return {};
  const auto add = [&]() -> Result<void> {
    constexpr std::string_view key = "eos_token_id";
    const Metadata values = TRY(metadata_from_json(*text));
    const MetadataValue* found = values.find(key);
    if (found == nullptr) return {};
    std::vector<std::int64_t> ids;
    if (found->is_list) {
      const ScalarList list = TRY(values.integer_list(key));
      for (std::size_t index = 0; index < list.size(); ++index) ids.push_back(list.integer(index));
    } else {
      ids.push_back(TRY(values.integer(key)));
    }
    const auto tokens = static_cast<std::int64_t>(description.tokens.size());
    for (const std::int64_t id : ids) {
      if (id < 0 || id >= tokens) {
        return Error::of(ErrorCode::out_of_range, key, ": expected ids below ", tokens, ", found ", id);
      }
      description.end_of_generation.push_back(static_cast<TokenId>(id));
    }
    return {};
  };
  const Result<void> added = add();
  if (!added.ok()) return added.error().within("generation_config.json");
  return {};
}

Result<Tokenizer> tokenizer_of(const ModelFile& file) {
  if (file.format() == ModelFile::Format::gguf) {
    return Tokenizer::create(TRY(describe_gguf_tokenizer(file.metadata())));
  }
  const auto text = file.companion(ModelFile::Companion::tokenizer);
  if (!text) return Error::of(ErrorCode::not_found, "expected a tokenizer.json beside the weights, found none");
  const auto configuration = file.companion(ModelFile::Companion::tokenizer_config);
  TokenizerDescription description = TRY(describe_hugging_face_tokenizer(*text, configuration.value_or("")));
  TRY(add_end_tokens(file, description));
  return Tokenizer::create(std::move(description));
}

// As the file says; where it says nothing, the last token's vector, which alone has seen all of a text that is read
// from its beginning on.
Result<Pooling> pooling_of(const ModelFile& file, const Template& form, const Metadata& metadata) {
  if (form.facts().makes_embeddings) return form.facts().pooling;
  if (file.companion(ModelFile::Companion::pooling)) return read_folder_pooling(file);
  return TRY(read_pooling_key(metadata)).value_or(Pooling::last);
}

Result<Tokenizer> named(Result<Tokenizer> tokenizer, const std::string& path) {
  if (!tokenizer.ok()) return tokenizer.error().within(Quoted{path});
  return tokenizer;
}

}  // namespace

Result<Tokenizer> open_tokenizer(const std::string& path) {
  if (path == default_model_name) return tokenizer_of(TRY(ModelFile::parse_gguf(default_model_file())));
  // What cannot be looked at cannot be opened either, and opening says why.
  namespace fs = std::filesystem;
  std::error_code unused;
  const bool is_folder = fs::is_directory(path, unused);
  const fs::path folder = is_folder ? fs::path(path) : fs::path(path).parent_path();
  const std::string beside = (folder / "tokenizer.json").string();
  if (path.ends_with(".json")) return open_tokenizer_json(path);
  if (is_folder || path.ends_with(".safetensors")) {
    if (fs::exists(beside, unused)) return open_tokenizer_json(beside);
    return named(tokenizer_of(TRY(ModelFile::open(path))), path);
  }
  // A GGUF file may hold a vocabulary and no tensors at all.
  const GgufFile file = TRY(open_first_gguf_piece(path));
  const auto create = [&]() -> Result<Tokenizer> {
    return Tokenizer::create(TRY(describe_gguf_tokenizer(file.metadata())));
  };
  return named(create(), path);
}

Result<std::shared_ptr<const Model>> Model::open(const std::string& path, const ModelUse& use) {
  Result<std::shared_ptr<const Model>> model = create(TRY(ModelFile::open(path)), path, use);
  if (!model.ok()) return model.error().within(Quoted{path});
  return model;
}

Result<std::shared_ptr<const Model>> Model::open_default(const ModelUse& use) {
  return create(TRY(ModelFile::parse_gguf(default_model_file())), std::string(default_model_name), use);
}

Result<std::shared_ptr<const Model>> Model::create(ModelFile file, std::string name, const ModelUse& use) {
  ModelSource source = TRY(read_source(file));
  std::unique_ptr<Template> form = TRY(create_template(source));
  TRY(require_all_read(*form, source));
  if (use.embeds) {
    const Pooling pooling = use.pooling ? *use.pooling : TRY(pooling_of(file, *form, source.metadata));
    form = as_embedder(std::move(form), pooling);
  }
  return std::shared_ptr<const Model>(new Model(std::move(file), std::move(name), std::move(source), std::move(form)));
}

Result<const Tokenizer*> Model::tokenizer() const {
  std::call_once(tokenizer_once_, [this] { tokenizer_.emplace(named(tokenizer_of(file_), name_)); });
  if (!tokenizer_->ok()) return tokenizer_->error();
  return &tokenizer_->value();
}

std::string Model::chat_template() const {
  const Result<std::string_view> in_metadata = metadata().text("tokenizer.chat_template");
  if (in_metadata.ok()) return std::string(in_metadata.value());
  if (const auto file = file_.companion(ModelFile::Companion::chat_template)) return std::string(*file);
  const auto configuration = file_.companion(ModelFile::Companion::tokenizer_config);
  if (!configuration) return "";
  const Result<Metadata> values = metadata_from_json(*configuration);
  if (!values.ok()) return "";
  const Result<std::string_view> text = values.value().text("chat_template");
  return text.ok() ? std::string(text.value()) : "";
}

Result<void> require_predictions(const Model& model) {
  if (!model.facts().makes_embeddings) return {};
  return Error::of(ErrorCode::unsupported, "expected a model that predicts tokens, found ", model.facts().architecture,
                   ", which makes embeddings");
}

}  // namespace ingot
