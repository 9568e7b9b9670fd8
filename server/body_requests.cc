#include "server/body_requests.h"

#include "base/random.h"
#include "machine/any_number.h"
#include "server/answer_id.h"
#include "server/embedding_answers.h"
#include "server/prepared_chat.h"
#include "server/protocol/chat_answer.h"
#include "server/protocol/completion_answer.h"
#include "server/protocol/llama_answer.h"
#include "server/protocol/messages_answer.h"
#include "server/protocol/messages_request.h"
#include "server/protocol/responses_answer.h"
#include "server/protocol/text_requests.h"
#include "server/protocol/token_requests.h"
#include "server/wanted_constraint.h"

namespace ingot {
namespace {

using protocol::ApiError;
using protocol::Outcome;

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
          .model = request.model_name(),
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

Outcome<std::vector<float>> adapters_of(const BodyRequest& request, const protocol::GenerationRequest& generation) {
  if (!request.adapter) return generation.adapters.value_or(std::vector<float>());
  if (generation.adapters) {
    return protocol::wrong_field(
        "lora", "expected lora beside the name of a model, found an adapter in the name too: " + request.model_name());
  }
  std::vector<float> scales(*request.adapter + 1, 0.0F);
  scales.back() = request.model.adapters()[*request.adapter].scale;
  return scales;
}

// One for each prompt.
Outcome<std::vector<TextRequest>> requests_of(const BodyRequest& request, const protocol::GenerationRequest& generation,
                                              std::vector<std::vector<std::int32_t>> prompts) {
  std::vector<TextRequest> texts =
      TRY(protocol::text_requests(generation, std::move(prompts), request.model.texts()->room(), any_seed()));
  const std::vector<float> adapters = TRY(adapters_of(request, generation));
  const Visitor& visitor = request.visit->visitor();
  const std::uint64_t salt = salt_of(visitor.salt, generation);
  for (TextRequest& text : texts) {
    text.asker = visitor.asker;
    text.salt = salt;
    text.adapters = adapters;
    text.deadline = request.deadline();
  }
  return texts;
}

// What is asked of a model, and what tells the answer.
struct AskedTexts {
  TextAnswers::Form form;
  std::vector<TextRequest> texts;
  bool is_streamed;
  std::optional<WantedConstraint> wanted;
};

Outcome<void> begin_held(const std::shared_ptr<Visit>& visit, HostedModel& model, TextAnswers& texts, AskedTexts asked,
                         WantedConstraint::Made made) {
  const std::shared_ptr<const grammar::Constraint> constraint = TRY(std::move(made));
  for (TextRequest& text : asked.texts) text.constraint = constraint;
  return texts.begin(visit, model, std::move(asked.form), std::move(asked.texts), asked.is_streamed);
}

// At once, unless something must be compiled first: that takes up to a second, and nobody else waits for it.
Outcome<void> begin(const BodyRequest& request, TextAnswers& texts, AskedTexts asked) {
  HostedModel& model = request.model;
  if (!asked.wanted) {
    return texts.begin(request.visit, model, std::move(asked.form), std::move(asked.texts), asked.is_streamed);
  }
  if (std::optional<WantedConstraint::Made> kept = asked.wanted->kept(model.constraints())) {
    return begin_held(request.visit, model, texts, std::move(asked), *std::move(kept));
  }
  const auto waiting = std::make_shared<AskedTexts>(std::move(asked));
  return request.compile_later([visit = request.visit, &model, &texts, waiting] {
    WantedConstraint::Made made = waiting->wanted->make(model.constraints());
    return begin_held(visit, model, texts, std::move(*waiting), std::move(made));
  });
}

// What is asked of the model for a chat in any of its forms, and how it is read what comes.
struct AskedChat {
  std::vector<TextRequest> texts;
  protocol::AnswerReading reading;
  std::optional<WantedConstraint> wanted;
};

Outcome<AskedChat> ask_chat(const BodyRequest& request, const protocol::ChatRequest& chat) {
  if (request.model.texts() == nullptr) return expect_texts(request.model);
  TRY(check_choices(request, 1, chat.generation.choices));
  if (chat.tools.is_on() && chat.generation.shape) {
    return protocol::not_served_yet(chat.generation.shape->field, chat.generation.shape->field + " beside tools");
  }
  PreparedChat prepared = TRY(prepare_chat(request.model, chat));
  std::optional<WantedConstraint> calls = wanted_calls(request.model, chat, prepared.reading.begins_in_thought);
  std::vector<std::vector<std::int32_t>> prompts;
  prompts.push_back(std::move(prepared.prompt));
  AskedChat asked = {.texts = TRY(requests_of(request, chat.generation, std::move(prompts))),
                     .reading = std::move(prepared.reading),
                     .wanted = calls ? std::move(calls) : wanted_shape(chat.generation)};
  asked.texts.front().shown_tokens = std::move(prepared.shown_tokens);
  return asked;
}

Outcome<void> answer_chat(const BodyRequest& request, TextAnswers& texts) {
  const protocol::ChatRequest chat = TRY(protocol::read_chat_request(request.body, request.model.served()));
  AskedChat asked = TRY(ask_chat(request, chat));
  const Tokenizer& tokenizer = request.model.tokenizer();
  protocol::AnswerHead head = head_of(request, "chatcmpl-");
  if (chat.tells_prompt) {
    head.prompt = tokenizer.decode(asked.texts.front().prompt, {.keeps_special_tokens = true, .is_text_begin = false});
  }
  auto form = std::make_unique<protocol::ChatAnswer>(std::move(head), chat, tokenizer, asked.reading);
  return begin(request, texts,
               {std::move(form), std::move(asked.texts), chat.generation.is_streamed, std::move(asked.wanted)});
}

Outcome<void> answer_responses(const BodyRequest& request, TextAnswers& texts) {
  const protocol::ResponsesRequest response =
      TRY(protocol::read_responses_request(request.body, request.model.served()));
  AskedChat asked = TRY(ask_chat(request, response.asked));
  auto form = std::make_unique<protocol::ResponsesAnswer>(head_of(request, "resp_"), response, asked.reading);
  return begin(
      request, texts,
      {std::move(form), std::move(asked.texts), response.asked.generation.is_streamed, std::move(asked.wanted)});
}

Outcome<void> answer_messages(const BodyRequest& request, TextAnswers& texts) {
  const protocol::ChatRequest chat = TRY(protocol::read_messages_request(request.body, request.model.served()));
  AskedChat asked = TRY(ask_chat(request, chat));
  auto form = std::make_unique<protocol::MessagesAnswer>(head_of(request, "msg_"), chat, asked.reading);
  return begin(request, texts,
               {std::move(form), std::move(asked.texts), chat.generation.is_streamed, std::move(asked.wanted)});
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
  return begin(
      request, texts,
      {std::move(form), std::move(asked), completion.generation.is_streamed, wanted_shape(completion.generation)});
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
  auto form = std::make_unique<protocol::LlamaAnswer>(request.model_name(), completion, asked, tokenizer);
  return begin(
      request, texts,
      {std::move(form), std::move(asked), completion.generation.is_streamed, wanted_shape(completion.generation)});
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
  chat::ChatRequest chat = TRY(with_tools(request.model, std::move(asked.chat), asked.tools));
  const Result<std::string> text = request.model.chat_text(std::move(chat));
  if (!text.ok()) return template_error(request.model, text.error());
  return protocol::template_answer(text.value());
}

// How many tokens the prompt has that a form asks for.
Outcome<protocol::ChatRequest> counted_chat(const BodyRequest& request, Endpoint endpoint) {
  const protocol::ServedModel& served = request.model.served();
  if (endpoint == Endpoint::message_tokens) return protocol::read_count_request(request.body);
  if (endpoint == Endpoint::chat_tokens) return protocol::read_chat_request(request.body, served);
  return TRY(protocol::read_responses_request(request.body, served)).asked;
}

Outcome<std::string> counted(const BodyRequest& request, Endpoint endpoint) {
  const protocol::ChatRequest chat = TRY(counted_chat(request, endpoint));
  const PreparedChat prepared = TRY(prepare_chat(request.model, chat));
  const bool is_response = endpoint == Endpoint::response_tokens;
  return protocol::token_count_answer(prepared.prompt.size(), is_response ? "response.input_tokens" : "");
}

Outcome<std::string> token_answer(const BodyRequest& request, Endpoint endpoint) {
  if (endpoint == Endpoint::tokenize) return tokenized(request);
  if (endpoint == Endpoint::detokenize) return detokenized(request);
  return endpoint == Endpoint::apply_template ? templated(request) : counted(request, endpoint);
}

}  // namespace

std::string BodyRequest::model_name() const {
  return adapter ? model.id() + ":" + model.adapters()[*adapter].name : model.id();
}

std::optional<Visit::Clock::time_point> BodyRequest::deadline() const {
  if (!deadline_seconds) return std::nullopt;
  const std::chrono::duration<double> time(*deadline_seconds);
  return visit->arrival() + std::chrono::duration_cast<Visit::Clock::duration>(time);
}

Outcome<void> answer_request(const BodyRequest& request, Endpoint endpoint, TextAnswers& texts) {
  if (endpoint == Endpoint::chat_completions) return answer_chat(request, texts);
  if (endpoint == Endpoint::responses) return answer_responses(request, texts);
  if (endpoint == Endpoint::messages) return answer_messages(request, texts);
  if (endpoint == Endpoint::completions) return answer_completion(request, texts);
  if (endpoint == Endpoint::llama_completion) return answer_llama_completion(request, texts);
  if (endpoint == Endpoint::embeddings) return answer_embeddings(request);
  request.visit->answer_json(TRY(token_answer(request, endpoint)));
  return {};
}

}  // namespace ingot
