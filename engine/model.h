// Model: an opened model file, ready for sessions. Immutable: any number of sessions may share one.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "model/template/template.h"
#include "model/tokenizer/tokenizer.h"

namespace ingot {

// The tokenizer alone, of a model file, a folder or a tokenizer.json; weights are not looked at and may be absent.
Result<Tokenizer> open_tokenizer(const std::string& path);

// What a model is opened for.
struct ModelUse {
  bool embeds = false;             // texts become vectors, also by a model that predicts tokens
  std::optional<Pooling> pooling;  // of texts' vectors; none: the file's own, or the last token's where it says nothing
};

class Model {
 public:
  static Result<std::shared_ptr<const Model>> open(const std::string& path, const ModelUse& use = {});
  // The one that the program carries.
  static Result<std::shared_ptr<const Model>> open_default(const ModelUse& use = {});

  const ModelFile& file() const { return file_; }
  const std::string& name() const { return name_; }  // where it was opened: for people
  const Metadata& metadata() const { return source_.metadata; }
  const Weights& weights() const { return source_.weights; }
  const Template& form() const { return *template_; }
  const ModelFacts& facts() const { return template_->facts(); }
  // Made when first asked for: a tool that only looks at weights needs none. Fails where the file has none, or one of a
  // kind that is not known.
  Result<const Tokenizer*> tokenizer() const;
  // The Jinja source that turns messages into a prompt; empty where the file has none.
  std::string chat_template() const;

 private:
  static Result<std::shared_ptr<const Model>> create(ModelFile file, std::string name, const ModelUse& use);
  Model(ModelFile file, std::string name, ModelSource source, std::unique_ptr<Template> form)
      : file_(std::move(file)), name_(std::move(name)), source_(std::move(source)), template_(std::move(form)) {}

  ModelFile file_;  // what the weights view
  std::string name_;
  ModelSource source_;  // moving a file does not move what it maps
  std::unique_ptr<Template> template_;
  mutable std::once_flag tokenizer_once_;
  mutable std::optional<Result<Tokenizer>> tokenizer_;
};

// Fails on a model that makes embeddings, and says so.
Result<void> require_predictions(const Model& model);

}  // namespace ingot
