#include "server/embedding_answers.h"

#include <atomic>

#include "server/protocol/embedding_answer.h"

namespace ingot {
namespace {

using protocol::ApiError;
using protocol::Outcome;

// One request on its way. Whoever comes first says what becomes of it: the model that has ended it, or the client that
// has left. Nobody waits for anybody, the loop of connections least of all.
class EmbeddingAnswer : public std::enable_shared_from_this<EmbeddingAnswer> {
 public:
  EmbeddingAnswer(std::shared_ptr<Visit> visit, HostedModel& model, Helpers& helpers,
                  protocol::EmbeddingRequest request)
      : visit_(std::move(visit)), model_(model), helpers_(helpers), request_(std::move(request)) {}

  // On the thread of passes.
  void take(VectorEnding ending);
  // False: it has ended before.
  bool leave();

 private:
  enum class State : std::uint8_t { waiting, ended, left };

  ApiError error_of(const VectorEnding& ending) const;
  // On a helper's thread: thousands of vectors take a while to be spelled.
  void spell();

  const std::shared_ptr<Visit> visit_;
  HostedModel& model_;
  Helpers& helpers_;
  const protocol::EmbeddingRequest request_;
  std::atomic<State> state_ = State::waiting;
  std::vector<std::vector<float>> vectors_;
};

void EmbeddingAnswer::take(VectorEnding ending) {
  model_.metrics().count_end(ending.end, ending.counts, ending.times);
  model_.metrics().whole.observe(visit_->seconds());
  visit_->logged().prompt_tokens = ending.counts.prompt;
  if (state_.exchange(State::ended) == State::left) return visit_->abandon();
  if (ending.end != GenerationEnd::model) return visit_->refuse(error_of(ending));
  for (std::vector<std::vector<float>>& of_text : ending.vectors) vectors_.push_back(std::move(of_text.front()));
  helpers_.run([self = shared_from_this()] { self->spell(); });
}

ApiError EmbeddingAnswer::error_of(const VectorEnding& ending) const {
  if (ending.error) return protocol::engine_error(*ending.error, retry_after_seconds(model_));
  if (ending.end == GenerationEnd::deadline) return protocol::deadline_passed(visit_->seconds());
  return protocol::request_cancelled();
}

void EmbeddingAnswer::spell() {
  visit_->answer_json(protocol::embedding_answer(model_.id(), request_, vectors_, visit_->logged().prompt_tokens));
}

bool EmbeddingAnswer::leave() {
  State expected = State::waiting;
  return state_.compare_exchange_strong(expected, State::left);
}

// Of each input.
Outcome<std::vector<std::vector<std::int32_t>>> texts_of(const protocol::EmbeddingRequest& asked,
                                                         const HostedModel& model) {
  std::vector<std::vector<std::int32_t>> texts;
  for (const protocol::TokenInput& input : asked.inputs) {
    texts.push_back(TRY(model.tokens_of(input)));
    const std::int64_t tokens = std::ssize(texts.back());
    if (tokens == 0) return protocol::wrong_field("input", "expected at least one token, found a text of none");
    if (tokens > model.context()) return protocol::input_too_large(tokens, model.context());
  }
  return texts;
}

Outcome<void> check_model(const HostedModel& model) {
  if (model.embeddings() == nullptr) {
    return protocol::wrong_field(
        "model", "expected a model that makes embeddings, found " + model.id() +
                     ", which is served to predict tokens: ingot serve --embeddings serves its vectors instead");
  }
  if (model.model().facts().pooling == Pooling::none) {
    return protocol::wrong_field(
        "model", "expected a model whose file says how tokens become one vector, found none in " + model.id() +
                     ": ingot serve --pooling says it");
  }
  return {};
}

}  // namespace

Outcome<void> answer_embeddings(const BodyRequest& request) {
  HostedModel& model = request.model;
  TRY(check_model(model));
  protocol::EmbeddingRequest asked = TRY(protocol::read_embedding_request(request.body, model.served()));
  VectorRequest texts;
  texts.texts = TRY(texts_of(asked, model));
  texts.asker = request.visit->visitor().asker;
  texts.deadline = request.deadline();
  request.visit->logged().model = model.id();
  const auto answer = std::make_shared<EmbeddingAnswer>(request.visit, model, request.helpers, std::move(asked));
  texts.listener = [answer](VectorEnding ending) { answer->take(std::move(ending)); };
  const Result<std::int64_t> number = model.embeddings()->submit(std::move(texts));
  if (!number.ok()) {
    if (number.error().code() == ErrorCode::would_block) ++model.metrics().refused;
    return protocol::engine_error(number.error(), retry_after_seconds(model));
  }
  request.visit->on_pace([&model, number = number.value(), weak = std::weak_ptr(answer)](http::Pace pace) {
    if (pace != http::Pace::gone) return;
    const std::shared_ptr<EmbeddingAnswer> alive = weak.lock();
    if (alive != nullptr && alive->leave()) model.embeddings()->cancel(number);
  });
  return {};
}

}  // namespace ingot
