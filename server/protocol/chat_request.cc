#include "server/protocol/chat_request.h"

#include <array>

#include "server/protocol/chat_messages.h"
#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

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
  // What tools were before they were tools.
  if (const Value* functions = reader.partly_refused("functions")) {
    const bool is_none = functions->is(Kind::sequence) && functions->items().empty();
    if (!is_none) reader.fail(not_served_yet("functions", "functions, which are tools today,"));
  }
  const Value* call = reader.partly_refused("function_call");
  if (call != nullptr && !is_text_of(*call, "none") && !is_text_of(*call, "auto")) {
    reader.fail(not_served_yet("function_call", "function_call, which is tool_choice today,"));
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
  reader.harmless("store", Kind::boolean);
  if (const Value* store = reader.partly_refused("store"); store && store->as_boolean()) {
    reader.fail(not_served_yet("store", "store of true"));
  }
}

// Whether thoughts are told apart, in llama-server's words.
void read_reasoning_format(FieldReader& reader, ChatRequest& request) {
  static constexpr std::array<std::string_view, 3> formats = {"none", "auto", "deepseek"};
  const Value* format = reader.value("reasoning_format");
  if (format == nullptr) return;
  if (!is_one_of(formats, *format)) return reader.fail("reasoning_format", listed(formats), *format);
  request.splits_thoughts = !is_text_of(*format, "none");
  if (!request.splits_thoughts && request.tools.is_on()) {
    reader.fail(not_served_yet("reasoning_format", "reasoning_format of 'none' beside tools"));
  }
}

Outcome<ChatRequest> read_from(FieldReader& reader, const ServedModel& model) {
  ChatRequest request;
  read_chat(reader, model, request.chat);
  read_chat_tools(reader, request.tools, request.chat);
  read_reasoning_format(reader, request);
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
