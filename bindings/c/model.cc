// Models: opening, facts, texts and tokens, chats.
#include <nlohmann/json.hpp>

#include "bindings/c/boundary.h"
#include "engine/chat_prompt.h"
#include "engine/default_model.h"
#include "engine/sampling_advice.h"
#include "model/tokenizer/text_losses.h"

using namespace ingot;

namespace {

std::string facts_of(const Model& model) {
  const ModelFacts& facts = model.facts();
  const nlohmann::json document = {{"name", model.name()},
                                   {"architecture", facts.architecture},
                                   {"vocabulary", facts.vocabulary},
                                   {"layers", facts.layers},
                                   {"width", facts.width},
                                   {"context", facts.context},
                                   {"scaled_context", facts.scaled_context},
                                   {"is_recurrent", facts.is_recurrent},
                                   {"makes_embeddings", facts.makes_embeddings},
                                   {"pools_embeddings", facts.makes_embeddings && facts.pooling != Pooling::none},
                                   {"chat_template", model.chat_template()}};
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<void> check_flags(std::uint32_t flags) {
  if ((flags & ~std::uint32_t{INGOT_PLAIN | INGOT_SPECIAL}) == 0) return {};
  return Error::of(ErrorCode::invalid_argument, "expected flags of INGOT_PLAIN and INGOT_SPECIAL, found ", flags);
}

Result<chat::MarkedText> render(const Model& model, const ingot_message* messages, std::size_t count) {
  constexpr std::size_t most_messages = 1 << 20;
  if (count > most_messages) {
    return Error::of(ErrorCode::out_of_range, "expected at most 2^20 messages, found ", count);
  }
  if (messages == nullptr && count > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected ", count, " messages, found null");
  }
  std::string source = model.chat_template();
  if (source.empty()) {
    return Error::of(ErrorCode::not_found, "expected a model with a chat template, found none");
  }
  chat::ChatRequest request;
  for (const ingot_message& message : std::span(messages, count)) {
    const std::string_view role = TRY(c::text_at(message.role, "a message's role"));
    const std::string_view content = TRY(c::text_at(message.content, "a message's content"));
    request.messages.push_back(chat::make_message(std::string(role), std::string(content)));
  }
  const chat::ChatTemplate form = TRY(chat::ChatTemplate::parse(std::move(source)));
  return render_chat(form, *TRY(model.tokenizer()), std::move(request));
}

Result<void> open_model(const char* path, const ModelUse& use, ingot_model** model) {
  TRY(c::require_place(model, "the model"));
  const bool is_built_in = path == nullptr || std::string_view(path) == default_model_name;
  *model = c::give_out<ingot_model>(TRY(is_built_in ? Model::open_default(use) : Model::open(path, use)));
  return {};
}

Result<std::optional<Pooling>> pooling_of(std::int32_t pooling) {
  switch (pooling) {
    case INGOT_POOLING_OF_THE_FILE: return std::optional<Pooling>();
    case INGOT_POOLING_NONE: return std::optional(Pooling::none);
    case INGOT_POOLING_MEAN: return std::optional(Pooling::mean);
    case INGOT_POOLING_FIRST: return std::optional(Pooling::first);
    case INGOT_POOLING_LAST: return std::optional(Pooling::last);
    default: return Error::of(ErrorCode::invalid_argument, "expected an ingot_pooling from -1 to 3, found ", pooling);
  }
}

}  // namespace

ingot_status ingot_model_open(const char* path, ingot_model** model, ingot_error* error) {
  c::clear(model);
  return c::answer(error, [&] { return open_model(path, {}, model); });
}

ingot_status ingot_model_open_to_embed(const char* path, int32_t pooling, ingot_model** model, ingot_error* error) {
  c::clear(model);
  return c::answer(error, [&]() -> Result<void> {
    const ModelUse use = {.embeds = true, .pooling = TRY(pooling_of(pooling))};
    return open_model(path, use, model);
  });
}

ingot_status ingot_model_close(ingot_model* model) { return c::close(model); }

ingot_status ingot_model_facts(const ingot_model* model, ingot_text** json, ingot_error* error) {
  c::clear(json);
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(json, "the facts"));
    c::give_text(json, facts_of(opened));
    return {};
  });
}

ingot_status ingot_tokenize(const ingot_model* model, const char* text, size_t size, uint32_t flags, int32_t* tokens,
                            size_t capacity, size_t* count, ingot_error* error) {
  c::clear(count);
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(count, "the number of tokens"));
    TRY(check_flags(flags));
    const std::string_view bytes = TRY(c::text_at(text, size, "a text"));
    const EncodeOptions options{.adds_special_tokens = (flags & INGOT_PLAIN) == 0,
                                .parses_special_tokens = (flags & INGOT_SPECIAL) != 0};
    const Tokenizer& tokenizer = *TRY(opened.tokenizer());
    const std::vector<TokenId> ids = TRY(tokenizer.encode(bytes, options));
    return c::write_out<std::int32_t>(ids, tokens, capacity, count);
  });
}

ingot_status ingot_detokenize(const ingot_model* model, const int32_t* tokens, size_t count, uint32_t flags,
                              ingot_text** text, ingot_error* error) {
  c::clear(text);
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(text, "the text"));
    TRY(check_flags(flags));
    const std::span<const TokenId> ids = TRY(c::tokens_at(tokens, count));
    const Tokenizer& tokenizer = *TRY(opened.tokenizer());
    for (const TokenId id : ids) {
      if (tokenizer.is_token(id)) continue;
      return Error::of(ErrorCode::out_of_range, "expected tokens from 0 to ", tokenizer.vocabulary_size() - 1,
                       ", found ", id);
    }
    const DecodeOptions options{.keeps_special_tokens = (flags & INGOT_SPECIAL) != 0,
                                .is_text_begin = (flags & INGOT_PLAIN) == 0};
    c::give_text(text, readable_text(tokenizer.decode(ids, options)).text);
    return {};
  });
}

ingot_status ingot_chat_tokens(const ingot_model* model, const ingot_message* messages, size_t message_count,
                               int32_t* tokens, size_t capacity, size_t* count, ingot_error* error) {
  c::clear(count);
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(count, "the number of tokens"));
    const chat::MarkedText prompt = TRY(render(opened, messages, message_count));
    const Tokenizer& tokenizer = *TRY(opened.tokenizer());
    const std::vector<TokenId> ids = TRY(encode_chat(tokenizer, prompt));
    return c::write_out<std::int32_t>(ids, tokens, capacity, count);
  });
}

ingot_status ingot_chat_text(const ingot_model* model, const ingot_message* messages, size_t message_count,
                             ingot_text** text, ingot_error* error) {
  c::clear(text);
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(text, "the text"));
    c::give_text(text, readable_text(TRY(render(opened, messages, message_count)).bytes).text);
    return {};
  });
}

ingot_status ingot_token_ends(const ingot_model* model, int32_t token, int32_t* ends, ingot_error* error) {
  c::clear(ends);
  return c::answer_with(model, error, [&](const Model& opened) -> Result<void> {
    TRY(c::require_place(ends, "the answer"));
    *ends = TRY(opened.tokenizer())->is_end_of_generation(token) ? 1 : 0;
    return {};
  });
}
