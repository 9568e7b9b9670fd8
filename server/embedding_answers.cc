#include "server/embedding_answers.h"

#include "server/protocol/embedding_answer.h"

namespace ingot {
namespace {

using protocol::Outcome;

constexpr int embedding_retry_seconds = 1;  // texts are short and go through together

// Gathers the vectors of one request.
class EmbeddingAnswer : public std::enable_shared_from_this<EmbeddingAnswer> {
 public:
  EmbeddingAnswer(std::shared_ptr<Visit> visit, HostedModel& model, protocol::EmbeddingRequest request)
      : visit_(std::move(visit)), model_(model), request_(std::move(request)), vectors_(request_.inputs.size()) {}

  Outcome<void> submit(std::vector<std::vector<std::int32_t>> texts);
  // Nobody waits for it any more. False: it was answered before.
  bool abandon();

 private:
  void take(std::size_t input, Result<std::vector<std::vector<float>>> found);

  std::shared_ptr<Visit> visit_;
  HostedModel& model_;
  const protocol::EmbeddingRequest request_;

  std::mutex mutex_;  // of all that follows
  std::vector<std::vector<float>> vectors_;
  std::vector<std::int64_t> numbers_;
  std::size_t found_ = 0;
  std::int64_t tokens_ = 0;
  bool is_over_ = false;
};

Outcome<void> EmbeddingAnswer::submit(std::vector<std::vector<std::int32_t>> texts) {
  for (const std::vector<std::int32_t>& text : texts) tokens_ += static_cast<std::int64_t>(text.size());
  for (std::size_t input = 0; input < texts.size(); ++input) {
    const Result<std::int64_t> number = model_.embeddings()->submit(
        std::move(texts[input]),
        [self = shared_from_this(), input](Result<std::vector<std::vector<float>>> found) {
          self->take(input, std::move(found));
        },
        visit_->visitor().asker);
    if (!number.ok()) {
      abandon();
      return protocol::engine_error(number.error(), embedding_retry_seconds);
    }
    const std::lock_guard lock(mutex_);
    numbers_.push_back(number.value());
  }
  return {};
}

void EmbeddingAnswer::take(std::size_t input, Result<std::vector<std::vector<float>>> found) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  if (!found.ok()) {
    is_over_ = true;
    return visit_->refuse(protocol::engine_error(found.error(), embedding_retry_seconds));
  }
  if (found.value().size() != 1) {
    is_over_ = true;
    return visit_->refuse(protocol::wrong_field(
        "model", "expected a model whose file says how tokens become one vector, found none in " + model_.id()));
  }
  vectors_[input] = std::move(found.value().front());
  if (++found_ < vectors_.size()) return;
  is_over_ = true;
  visit_->logged().prompt_tokens = tokens_;
  visit_->answer_json(protocol::embedding_answer(model_.id(), request_, vectors_, tokens_));
}

bool EmbeddingAnswer::abandon() {
  std::vector<std::int64_t> numbers;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return false;
    is_over_ = true;
    numbers = numbers_;
  }
  for (const std::int64_t number : numbers) model_.embeddings()->cancel(number);
  return true;
}

}  // namespace

Outcome<void> answer_embeddings(const BodyRequest& request) {
  if (request.model.embeddings() == nullptr) {
    return protocol::wrong_field(
        "model", "expected a model that makes embeddings, found " + request.model.id() + ", which predicts tokens");
  }
  protocol::EmbeddingRequest asked = TRY(protocol::read_embedding_request(request.body, request.model.served()));
  std::vector<std::vector<std::int32_t>> texts;
  for (const protocol::TokenInput& input : asked.inputs) {
    texts.push_back(TRY(request.model.tokens_of(input)));
    if (texts.back().empty())
      return protocol::wrong_field("input", "expected at least one token, found a text of none");
  }
  for (const std::vector<std::int32_t>& text : texts) {
    if (std::ssize(text) > request.model.context()) {
      return protocol::input_too_large(std::ssize(text), request.model.context());
    }
  }
  request.visit->logged().model = request.model.id();
  const auto answer = std::make_shared<EmbeddingAnswer>(request.visit, request.model, std::move(asked));
  TRY(answer->submit(std::move(texts)));
  request.visit->on_pace([visit = request.visit, weak = std::weak_ptr(answer)](http::Pace pace) {
    if (pace != http::Pace::gone) return;
    const std::shared_ptr<EmbeddingAnswer> alive = weak.lock();
    if (alive != nullptr && alive->abandon()) visit->abandon();
  });
  return {};
}

}  // namespace ingot
