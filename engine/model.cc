#include "engine/model.h"

#include <filesystem>

#include "model/files/json_metadata.h"

namespace ingot {
namespace {

Result<Tokenizer> tokenizer_of(const ModelFile& file) {
  if (file.format() == ModelFile::Format::gguf) {
    return Tokenizer::create(TRY(describe_gguf_tokenizer(file.metadata())));
  }
  const auto text = file.companion(ModelFile::Companion::tokenizer);
  if (!text) return Error::of(ErrorCode::not_found, "expected a tokenizer.json beside the weights, found none");
  const auto configuration = file.companion(ModelFile::Companion::tokenizer_config);
  return Tokenizer::create(TRY(describe_hugging_face_tokenizer(*text, configuration.value_or(""))));
}

}  // namespace

Result<Tokenizer> open_tokenizer(const std::string& path) {
  // A GGUF file may hold a vocabulary and no tensors at all.
  if (!std::filesystem::is_directory(path)) {
    const GgufFile file = TRY(GgufFile::open(path));
    return Tokenizer::create(TRY(describe_gguf_tokenizer(file.metadata())));
  }
  return tokenizer_of(TRY(ModelFile::open(path)));
}

Result<std::shared_ptr<const Model>> Model::open(const std::string& path) {
  ModelFile file = TRY(ModelFile::open(path));
  Result<ModelSource> source = read_source(file);
  if (!source.ok()) return source.error().within(path);
  Result<std::unique_ptr<Template>> form = create_template(source.value());
  if (!form.ok()) return form.error().within(path);
  return std::shared_ptr<const Model>(new Model(std::move(file), std::move(source).value(), std::move(form).value()));
}

Result<const Tokenizer*> Model::tokenizer() const {
  std::call_once(tokenizer_once_, [this] { tokenizer_.emplace(tokenizer_of(file_)); });
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

}  // namespace ingot
