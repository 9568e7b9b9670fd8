#include "server/hosted_model.h"

#include <algorithm>

#include "engine/chat_prompt.h"
#include "engine/sampling_advice.h"
#include "server/fingerprint.h"

namespace ingot {

Result<std::unique_ptr<HostedModel>> HostedModel::create(std::shared_ptr<const Model> model, HostedModelOptions options,
                                                         Bell& bell) {
  std::unique_ptr<HostedModel> hosted(new HostedModel(std::move(model), std::move(options.id)));
  const Model& opened = hosted->model();
  hosted->tokenizer_ = TRY(opened.tokenizer());
  hosted->constraints_.emplace(*hosted->tokenizer_);
  hosted->created_ =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  protocol::ServedModel& served = hosted->served_;
  hosted->path_ = std::move(options.path);
  hosted->adapters_ = std::move(options.adapters);
  if (!hosted->adapters_.empty() && opened.facts().makes_embeddings) {
    return Error::of(ErrorCode::unsupported, "--adapter: expected a model that predicts tokens to serve, found ",
                     std::string_view(hosted->id_), ", which makes embeddings");
  }
  served.adapters = std::ssize(hosted->adapters_);
  served.seed = options.seed;
  served.tells_prompts = options.tells_prompts;
  served.vocabulary = opened.facts().vocabulary;
  served.embedding_width = opened.facts().makes_embeddings ? opened.facts().width : 0;
  // OpenAI's penalties look at all of the text.
  served.sampling.penalty_window = std::max(options.session.context, default_context);
  follow(TRY(read_sampling_advice(opened.metadata())), served.sampling);
  std::string source = options.chat_template.empty() ? opened.chat_template() : std::move(options.chat_template);
  for (const ServedAdapter& adapter : hosted->adapters_) options.program += " " + std::to_string(adapter.scale);
  hosted->fingerprint_ = fingerprint_of(opened, options.session, source, options.program);
  // A template that cannot be read harms nobody who does not chat.
  if (!source.empty()) {
    served.knows_developers = source.find("developer") != std::string::npos;
    hosted->template_.emplace(chat::ChatTemplate::parse(std::move(source)));
    hosted->read_call_format();
  }
  // So that as many as may run at once can all generate.
  if (!opened.facts().makes_embeddings) {
    options.session.chunk = std::max(options.session.chunk, rows_for(options.session.sequences));
  }
  hosted->session_ = TRY(Session::create(hosted->model_, options.session));
  hosted->cache_bytes_ = hosted->session_->sequences().most_bytes();
  if (opened.facts().makes_embeddings) {
    hosted->embeddings_ = TRY(EmbeddingService::create(*hosted->session_, bell, {.queue = options.service.queue}));
  } else {
    hosted->texts_ = TRY(Service::create(*hosted->session_, *hosted->tokenizer_, bell, options.service));
  }
  return hosted;
}

protocol::Outcome<std::vector<std::int32_t>> HostedModel::tokens_of(const protocol::TokenInput& input) const {
  if (const auto* tokens = std::get_if<std::vector<std::int32_t>>(&input)) return *tokens;
  Result<std::vector<TokenId>> tokens = tokenizer_->encode(std::get<std::string>(input));
  if (!tokens.ok()) return protocol::engine_error(tokens.error(), 0);
  return std::move(tokens).value();
}

std::string_view HostedModel::chat_template() const {
  return template_ && template_->ok() ? std::string_view(template_->value().source()) : std::string_view();
}

Result<chat::MarkedText> HostedModel::render(chat::ChatRequest request) const {
  if (!template_) {
    return Error::of(ErrorCode::unsupported, "expected a model with a chat template, found none in ", id_);
  }
  if (!template_->ok()) return template_->error();
  return render_chat(template_->value(), *tokenizer_, std::move(request));
}

void HostedModel::read_call_format() {
  if (!template_->ok()) return;
  const calls::TemplateTokens tokens = {.bos_token = std::string(tokenizer_->piece(tokenizer_->bos())),
                                        .eos_token = std::string(tokenizer_->piece(tokenizer_->eos()))};
  call_format_ = std::make_shared<calls::CallFormat>(calls::CallFormat::read(template_->value(), tokens));
  for (const std::string& mark : call_format_->marks()) {
    const Result<std::vector<TokenId>> spelled =
        tokenizer_->encode(mark, {.adds_special_tokens = false, .parses_special_tokens = true});
    if (!spelled.ok()) continue;
    for (const TokenId token : spelled.value()) {
      if (tokenizer_->is_special(token)) mark_tokens_.push_back(token);
    }
  }
  std::ranges::sort(mark_tokens_);
}

Result<ChatPrompt> HostedModel::chat_prompt(chat::ChatRequest request) const {
  const chat::MarkedText text = TRY(render(std::move(request)));
  return ChatPrompt{.tokens = TRY(encode_chat(*tokenizer_, text)),
                    .opens_thought = call_format_ != nullptr && call_format_->opens_thought(text.bytes)};
}

Result<std::string> HostedModel::chat_text(chat::ChatRequest request) const {
  return std::move(TRY(render(std::move(request))).bytes);
}

bool HostedModel::step() {
  const bool has_computed = texts_ ? texts_->step() : embeddings_->step();
  const DeviceSide* const side = session_->device_side();
  if (side != nullptr && side->device().is_lost()) has_lost_device_.store(true, std::memory_order_relaxed);
  return has_computed;
}

std::optional<std::chrono::steady_clock::time_point> HostedModel::earliest_deadline() const {
  return texts_ ? texts_->earliest_deadline() : embeddings_->earliest_deadline();
}

void HostedModel::cancel_all() { texts_ ? texts_->cancel_all() : embeddings_->cancel_all(); }

}  // namespace ingot
