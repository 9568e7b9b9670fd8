#include "server/protocol/chat_request.h"

#include "server/protocol/chat_messages.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

bool is_text_of(const Value& value, std::string_view text) { return value.is_text() && value.bytes() == text; }

void read_lengths(FieldReader& reader, GenerationRequest& request) {
  // The second is the new name of the first. Where both are given, the smaller one holds both promises.
  constexpr Integers lengths = {1, std::numeric_limits<std::int32_t>::max()};
  reader.read("max_tokens", request.most_tokens, lengths);
  std::optional<std::int64_t> renamed;
  reader.read("max_completion_tokens", renamed, lengths);
  if (renamed) request.most_tokens = std::min(*renamed, request.most_tokens.value_or(*renamed));
}

void read_probabilities(FieldReader& reader, GenerationRequest& request) {
  reader.read("logprobs", request.tells_probabilities);
  std::int64_t most_likely = 0;
  reader.read("top_logprobs", most_likely, {0, most_likely_tokens});
  if (request.tells_probabilities) {
    request.text.most_likely = most_likely;
  } else if (most_likely > 0) {
    reader.fail(wrong_field("top_logprobs", "top_logprobs: expected only where logprobs is true"));
  }
}

// What is served with one value alone, which is what happens anyway.
void read_only_values(FieldReader& reader) {
  if (const Value* format = reader.partly_refused("response_format")) {
    const Value* type = format->is(Kind::dictionary) ? format->as_dictionary().find("type") : nullptr;
    if (type == nullptr || !type->is_text()) {
      reader.fail("response_format", "an object with a type", *format);
    } else if (type->bytes() != "text") {
      reader.fail(not_served_yet("response_format", "response_format of type '" + type->bytes() + "'"));
    }
  }
  // Without tools there is nothing to choose.
  for (const std::string_view name : {"tools", "functions"}) {
    const Value* tools = reader.partly_refused(name);
    if (tools == nullptr || (tools->is(Kind::sequence) && tools->items().empty())) continue;
    reader.fail(not_served_yet(std::string(name), name));
  }
  for (const std::string_view name : {"tool_choice", "function_call"}) {
    const Value* choice = reader.partly_refused(name);
    if (choice == nullptr || is_text_of(*choice, "none") || is_text_of(*choice, "auto")) continue;
    reader.fail(not_served_yet(std::string(name), std::string(name) + " other than 'none' and 'auto'"));
  }
  if (const Value* modalities = reader.partly_refused("modalities")) {
    const bool is_list = modalities->is(Kind::sequence) && modalities->items().size() == 1;
    if (!is_list || !is_text_of(modalities->items().front(), "text")) {
      reader.fail(not_served_yet("modalities", "modalities other than [\"text\"]"));
    }
  }
  if (const Value* verbosity = reader.partly_refused("verbosity"); verbosity && !is_text_of(*verbosity, "medium")) {
    reader.fail(not_served_yet("verbosity", "verbosity other than 'medium'"));
  }
}

void pass_over_harmless(FieldReader& reader) {
  for (const std::string_view name :
       {"service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}) {
    reader.harmless(name, Kind::text);
  }
  // A prediction only saves time.
  for (const std::string_view name : {"metadata", "prompt_cache_options", "prediction"}) {
    reader.harmless(name, Kind::dictionary);
  }
  for (const std::string_view name : {"parallel_tool_calls", "store"}) reader.harmless(name, Kind::boolean);
  if (const Value* store = reader.partly_refused("store"); store && store->as_boolean()) {
    reader.fail(not_served_yet("store", "store of true"));
  }
}

Outcome<ChatRequest> read_from(FieldReader& reader, const ServedModel& model) {
  ChatRequest request;
  read_chat(reader, model, request.chat);
  read_generation_fields(reader, model, request.generation);
  read_lengths(reader, request.generation);
  check_lengths(reader, request.generation);
  read_probabilities(reader, request.generation);
  request.tells_prompt = model.tells_prompts;
  reader.read("verbose", request.tells_prompt);
  read_only_values(reader);
  pass_over_harmless(reader);
  for (const std::string_view name : {"audio", "moderation", "web_search_options"}) reader.refused(name, name);
  TRY(reader.finish());
  return request;
}

}  // namespace

Outcome<ChatRequest> read_chat_request(const chat::Dictionary& body, const ServedModel& model) {
  FieldReader reader(body);
  return read_from(reader, model);
}

std::vector<KnownField> fields_of_chat_requests() {
  const chat::Dictionary empty;
  FieldReader reader(empty);
  (void)read_from(reader, {});
  return reader.known();
}

}  // namespace ingot::protocol
