#include "model/template/embedder.h"

#include <string>

namespace ingot {

namespace {

class Embedder final : public Template {
 public:
  Embedder(std::unique_ptr<Template> form, Pooling pooling) : form_(std::move(form)), facts_(form_->facts()) {
    facts_.makes_embeddings = true;
    facts_.pooling = pooling;
  }

  const ModelFacts& facts() const override { return facts_; }
  void emit(CircuitBuilder& builder) const override {
    builder.yield_vectors();
    form_->emit(builder);
  }

 private:
  std::unique_ptr<Template> form_;
  ModelFacts facts_;
};

}  // namespace

Result<std::optional<Pooling>> read_pooling_key(const Metadata& metadata) {
  // -1: not said, as others write it.
  const std::string key = std::string(TRY(metadata.text("general.architecture"))) + ".pooling_type";
  if (!metadata.has(key)) return std::optional<Pooling>();
  const std::int64_t number = TRY(metadata.integer(key));
  if (number == -1) return std::optional<Pooling>();
  if (number >= 0 && number <= static_cast<std::int64_t>(Pooling::last)) {
    return std::optional(static_cast<Pooling>(number));
  }
  return Error::of(ErrorCode::unsupported, key, ": expected 0 (none), 1 (mean), 2 (cls) or 3 (last), found ", number,
                   number == 4 ? " (rank): a model that ranks texts makes no vector of one" : "");
}

std::unique_ptr<Template> as_embedder(std::unique_ptr<Template> form, Pooling pooling) {
  return std::make_unique<Embedder>(std::move(form), pooling);
}

}  // namespace ingot
