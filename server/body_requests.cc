#include "server/body_requests.h"

#include "base/random.h"
#include "machine/any_number.h"
#include "server/embedding_answers.h"
#include "server/protocol/chat_answer.h"
#include "server/protocol/completion_answer.h"
#include "server/protocol/llama_answer.h"
#include "server/protocol/text_requests.h"
#include "server/protocol/token_requests.h"

namespace ingot {
namespace {

using protocol::ApiError;
using protocol::Outcome;

// "chatcmpl-" and sixteen hexadecimal digits that nobody else has.
std::string answer_id(std::string_view kind) {
  std::string id(kind);
  const std::uint64_t number = any_number();
  for (int shift = 60; shift >= 0; shift -= 4) id += "0123456789abcdef"[number >> shift & 15];
  return id;
}

// Texts of different salts never share what is computed. The secret keeps a client from choosing a salt that is
// another's.
std::uint64_t salt_of(std::uint64_t key, const protocol::GenerationRequest& request) {
  static const std::uint64_t secret = any_number();
  if (!request.shares_cache) return any_number();
  if (request.cache_salt.empty()) return key;
  std::uint64_t salt = RandomNumbers(secret ^ key).next();
  for (const char letter : request.cache_salt) salt = RandomNumbers(salt ^ static_cast<unsigned char>(letter)).next();
  return salt;
}

protocol::AnswerHead head_of(const BodyRequest& request, std::string_view kind) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = answer_id(kind),
          .model = request.model.id(),
          .fingerprint = request.model.fingerprint(),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count()};
}

ApiError expect_texts(const HostedModel& model) {
  return protocol::wrong_field("model", "expected a model that predicts tokens, found " + model.id() +
                                            ", which makes embeddings: ask /v1/embeddings");
}

// Told to clients, some of whom keep numbers as doubles.
std::uint64_t any_seed() { return any_number() & 0xffffffff; }

// Before anything is made of them: so many could never wait together.
Outcome<void> check_choices(const BodyRequest& request, std::int64_t prompts, std::int64_t choices) {
  const Result<void> fits = request.model.texts()->check_queue_holds(prompts * choices, 0);
  if (!fits.ok()) return protocol::engine_error(fits.error(), 0);
  return {};
}

// One for each prompt.
Outcome<std::vector<TextRequest>> requests_of(const BodyRequest& request, const protocol::GenerationRequest& generation,
                                              std::vector<std::vector<std::int32_t>> prompts) {
  std::vector<TextRequest> texts =
      TRY(protocol::text_requests(generation, std::move(prompts), request.model.texts()->room(), any_seed()));
  const Visitor& visitor = request.visit->visitor();
  const std::uint64_t salt = salt_of(visitor.salt, generation);
  for (TextRequest& text : texts) {
    text.asker = visitor.asker;
    text.salt = salt;
    text.deadline = request.deadline();
  }
  return texts;
}

ApiError template_error(const HostedModel& model, const Error& error) {
  return model.has_chat_template() ? protocol::wrong_template(error.text()) : protocol::no_template(model.id());
}

Outcome<void> answer_chat(const BodyRequest& request, TextAnswers& texts) {
  if (request.model.texts() == nullptr) return expect_texts(request.model);
  protocol::ChatRequest chat = TRY(protocol::read_chat_request(request.body, request.model.served()));
  TRY(check_choices(request, 1, chat.generation.choices));
  Result<std::vector<std::int32_t>> prompt = request.model.chat_prompt(chat.chat);
  if (!prompt.ok()) return template_error(request.model, prompt.error());
  std::vector<std::vector<std::int32_t>> prompts;
  prompts.push_back(std::move(prompt).value());
  if (prompts.front().empty()) return protocol::wrong_template("it wrote nothing for these messages");
  std::vector<TextRequest> asked = TRY(requests_of(request, chat.generation, std::move(prompts)));
  const Tokenizer& tokenizer = request.model.tokenizer();
  protocol::AnswerHead head = head_of(request, "chatcmpl-");
  if (chat.tells_prompt) {
    head.prompt = tokenizer.decode(asked.front().prompt, {.keeps_special_tokens = true, .is_text_begin = false});
  }
  auto form = std::make_unique<protocol::ChatAnswer>(std::move(head), chat, tokenizer);
  return texts.begin(request.visit, request.model, std::move(form), std::move(asked), chat.generation.is_streamed);
}

Outcome<void> answer_completion(const BodyRequest& request, TextAnswers& texts) {
  if (request.model.texts() == nullptr) return expect_texts(request.model);
  const protocol::CompletionRequest completion =
      TRY(protocol::read_completion_request(request.body, request.model.served()));
  TRY(check_choices(request, std::ssize(completion.prompts), completion.generation.choices));
  std::vector<std::vector<std::int32_t>> prompts;
  for (const protocol::TokenInput& input : completion.prompts) {
    prompts.push_back(TRY(request.model.tokens_of(input)));
    if (prompts.back().empty()) {
      return protocol::wrong_field("prompt", "expected at least one token, found a text that has none");
    }
  }
  std::vector<TextRequest> asked = TRY(requests_of(request, completion.generation, std::move(prompts)));
  auto form =
      std::make_unique<protocol::CompletionAnswer>(head_of(request, "cmpl-"), completion, request.model.tokenizer());
  return texts.begin(request.visit, request.model, std::move(form), std::move(asked),
                     completion.generation.is_streamed);
}

// Only what begins a text gets what the model wants in front of one. Special tokens may be spelled: whoever asks here
// writes the model's own form.
Outcome<std::vector<std::int32_t>> tokens_of_parts(const std::vector<protocol::TokenInput>& parts,
                                                   const Tokenizer& tokenizer) {
  std::vector<std::int32_t> prompt;
  for (const protocol::TokenInput& part : parts) {
    if (const auto* tokens = std::get_if<std::vector<std::int32_t>>(&part)) {
      prompt.insert(prompt.end(), tokens->begin(), tokens->end());
      continue;
    }
    const Result<std::vector<TokenId>> tokens = tokenizer.encode(
        std::get<std::string>(part), {.adds_special_tokens = &part == parts.data(), .parses_special_tokens = true});
    if (!tokens.ok()) return protocol::engine_error(tokens.error(), 0);
    prompt.insert(prompt.end(), tokens.value().begin(), tokens.value().end());
  }
  if (prompt.empty()) return protocol::wrong_field("prompt", "expected at least one token, found a text that has none");
  return prompt;
}

Outcome<void> add_text_biases(protocol::GenerationRequest& generation, const Tokenizer& tokenizer) {
  std::vector<TokenBias>& biases = generation.text.biases;
  for (const protocol::TextBias& bias : generation.text_biases) {
    const Result<std::vector<TokenId>> tokens = tokenizer.encode(bias.text, {.adds_special_tokens = false});
    if (!tokens.ok()) return protocol::wrong_field("logit_bias", std::string(tokens.error().text()));
    for (const TokenId token : tokens.value()) biases.push_back({token, bias.added});
    if (biases.size() > protocol::most_biases) {
      return protocol::too_many("logit_bias", protocol::most_biases, "tokens", biases.size());
    }
  }
  return {};
}

Outcome<void> answer_llama_completion(const BodyRequest& request, TextAnswers& texts) {
  if (request.model.texts() == nullptr) return expect_texts(request.model);
  protocol::LlamaRequest completion = TRY(protocol::read_llama_request(request.body, request.model.served()));
  TRY(check_choices(request, std::ssize(completion.prompts), completion.generation.choices));
  const Tokenizer& tokenizer = request.model.tokenizer();
  TRY(add_text_biases(completion.generation, tokenizer));
  std::vector<std::vector<std::int32_t>> prompts;
  for (const std::vector<protocol::TokenInput>& parts : completion.prompts) {
    prompts.push_back(TRY(tokens_of_parts(parts, tokenizer)));
  }
  std::vector<TextRequest> asked = TRY(requests_of(request, completion.generation, std::move(prompts)));
  auto form = std::make_unique<protocol::LlamaAnswer>(request.model.id(), completion, asked, tokenizer);
  return texts.begin(request.visit, request.model, std::move(form), std::move(asked),
                     completion.generation.is_streamed);
}

Outcome<std::string> tokenized(const BodyRequest& request) {
  const protocol::TokenizeRequest asked = TRY(protocol::read_tokenize_request(request.body));
  const Tokenizer& tokenizer = request.model.tokenizer();
  const Result<std::vector<TokenId>> tokens = tokenizer.encode(
      asked.content,
      {.adds_special_tokens = asked.adds_special_tokens, .parses_special_tokens = asked.parses_special_tokens});
  if (!tokens.ok()) return protocol::wrong_field("content", std::string(tokens.error().text()));
  return protocol::tokenize_answer(asked, tokens.value(), tokenizer);
}

Outcome<std::string> detokenized(const BodyRequest& request) {
  const protocol::DetokenizeRequest asked =
      TRY(protocol::read_detokenize_request(request.body, request.model.served()));
  return protocol::detokenize_answer(request.model.tokenizer().decode(asked.tokens, {.keeps_special_tokens = true}));
}

Outcome<std::string> templated(const BodyRequest& request) {
  protocol::TemplateRequest asked = TRY(protocol::read_template_request(request.body, request.model.served()));
  const Result<std::string> text = request.model.chat_text(std::move(asked.chat));
  if (!text.ok()) return template_error(request.model, text.error());
  return protocol::template_answer(text.value());
}

Outcome<std::string> counted(const BodyRequest& request) {
  const protocol::ChatRequest chat = TRY(protocol::read_chat_request(request.body, request.model.served()));
  const Result<std::vector<std::int32_t>> prompt = request.model.chat_prompt(chat.chat);
  if (!prompt.ok()) return template_error(request.model, prompt.error());
  return protocol::token_count_answer(prompt.value().size());
}

Outcome<std::string> token_answer(const BodyRequest& request, Endpoint endpoint) {
  if (endpoint == Endpoint::chat_tokens) return counted(request);
  if (endpoint == Endpoint::tokenize) return tokenized(request);
  return endpoint == Endpoint::detokenize ? detokenized(request) : templated(request);
}

}  // namespace

std::optional<Visit::Clock::time_point> BodyRequest::deadline() const {
  if (!deadline_seconds) return std::nullopt;
  const std::chrono::duration<double> time(*deadline_seconds);
  return visit->arrival() + std::chrono::duration_cast<Visit::Clock::duration>(time);
}

Outcome<void> answer_request(const BodyRequest& request, Endpoint endpoint, TextAnswers& texts) {
  if (endpoint == Endpoint::chat_completions) return answer_chat(request, texts);
  if (endpoint == Endpoint::completions) return answer_completion(request, texts);
  if (endpoint == Endpoint::llama_completion) return answer_llama_completion(request, texts);
  if (endpoint == Endpoint::embeddings) return answer_embeddings(request);
  request.visit->answer_json(TRY(token_answer(request, endpoint)));
  return {};
}

}  // namespace ingot
