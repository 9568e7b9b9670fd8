#include "server/protocol/responses_request.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "model/chat/value_json.h"
#include "server/protocol/chat_parts.h"
#include "server/protocol/response_input.h"
#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;

constexpr std::string_view expected_input = "a text or a list of at least one item";

void read_input(FieldReader& reader, const ServedModel& model, ResponsesRequest& request) {
  reader.require("input", expected_input);
  const Value* instructions = reader.value("instructions", Kind::text);
  const Value* input = reader.value("input");
  if (input == nullptr) return;
  if (instructions != nullptr) request.echo.instructions = *instructions;
  const bool is_list = input->is(Kind::sequence) && !input->items().empty();
  if (!is_list && !input->is_text()) return reader.fail("input", expected_input, *input);
  Outcome<std::vector<Value>> messages = read_response_input(instructions, *input, model);
  if (!messages.ok()) return reader.fail(messages.error());
  request.asked.chat.messages = std::move(messages).value();
}

Outcome<void> read_reasoning(const Value& given, ResponsesRequest& request) {
  FieldReader reader(given.as_dictionary(), "reasoning");
  read_effort(reader, "effort", request.asked.chat);
  if (const Value* effort = reader.value("effort")) request.echo.effort = *effort;
  // All of it is told, not a summary.
  for (const std::string_view name : {"summary", "generate_summary", "context"}) reader.harmless(name, Kind::text);
  reader.refused("mode", "reasoning.mode");
  return reader.finish();
}

Outcome<void> read_text_settings(const Value& given, ResponsesRequest& request) {
  FieldReader reader(given.as_dictionary(), "text");
  if (const Value* format = reader.value("format", Kind::dictionary)) {
    read_format(reader, "text.format", *format, request.asked.generation.shape);
    request.echo.format = *format;
  }
  if (const Value* verbosity = reader.partly_refused("verbosity"); verbosity && !is_text_of(*verbosity, "medium")) {
    reader.fail(not_served_yet("text.verbosity", "text.verbosity other than 'medium'"));
  }
  return reader.finish();
}

// Of what can be included only probabilities could be there and are not told. Reasoning is told as it is, which goes
// back as well as an encrypted form would.
void read_included(FieldReader& reader) {
  const Value* included = reader.value("include", Kind::sequence);
  if (included == nullptr) return;
  for (const Value& item : included->items()) {
    if (!item.is_text()) return reader.fail("include", "a list of texts", item);
    if (item.bytes() == "message.output_text.logprobs") {
      return reader.fail(not_served_yet("include", "include of '" + item.bytes() + "'"));
    }
  }
}

// What is served with one value alone, which is what happens anyway.
void read_response_constants(FieldReader& reader) {
  for (const std::string_view name : {"background", "store"}) {
    const Value* found = reader.partly_refused(name);
    if (found == nullptr) continue;
    if (!found->is(Kind::boolean)) return reader.fail(name, "true or false", *found);
    if (found->as_boolean()) reader.fail(not_served_yet(std::string(name), std::string(name) + " of true"));
  }
  if (const Value* truncation = reader.partly_refused("truncation");
      truncation && !is_text_of(*truncation, "disabled")) {
    reader.fail(not_served_yet("truncation", "truncation other than 'disabled'"));
  }
  if (const Value* likely = reader.partly_refused("top_logprobs"); likely && whole_number(*likely) != 0) {
    reader.fail(not_served_yet("top_logprobs", "top_logprobs other than 0"));
  }
}

void pass_over_response_fields(FieldReader& reader) {
  for (const std::string_view name :
       {"service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"}) {
    reader.harmless(name, Kind::text);
  }
  reader.harmless("prompt_cache_options", Kind::dictionary);
  reader.harmless("max_tool_calls", Kind::integer);  // of tools that the server itself calls, of which there are none
}

// Told again by every event of a stream that holds the response, so OpenAI's own bounds hold here.
void read_metadata(FieldReader& reader, ResponsesRequest& request) {
  constexpr std::size_t most_texts = 16, longest_name = 64, longest_text = 512;
  const Value* metadata = reader.value("metadata", Kind::dictionary);
  if (metadata == nullptr) return;
  const auto fits = [](const chat::Dictionary::Entry& entry) {
    return entry.value.is_text() && count_characters(entry.key.bytes()) <= longest_name &&
           count_characters(entry.value.bytes()) <= longest_text;
  };
  const std::vector<chat::Dictionary::Entry>& entries = metadata->as_dictionary().entries();
  if (entries.size() > most_texts || !std::ranges::all_of(entries, fits)) {
    return reader.fail("metadata", "at most 16 texts of 512 characters, with names of 64", *metadata);
  }
  request.echo.metadata = *metadata;
}

void read_objects(FieldReader& reader, ResponsesRequest& request) {
  using Read = Outcome<void> (*)(const Value&, ResponsesRequest&);
  for (const auto& [name, read] : {std::pair<std::string_view, Read>{"reasoning", read_reasoning},
                                   std::pair<std::string_view, Read>{"text", read_text_settings}}) {
    const Value* found = reader.value(name, Kind::dictionary);
    if (found == nullptr) continue;
    if (const Outcome<void> outcome = read(*found, request); !outcome.ok()) reader.fail(outcome.error());
  }
  read_metadata(reader, request);
}

Outcome<ResponsesRequest> read_response_from(FieldReader& reader, const ServedModel& model) {
  ResponsesRequest request;
  GenerationRequest& generation = request.asked.generation;
  read_input(reader, model, request);
  read_response_tools(reader, request.asked.tools, request.asked.chat);
  if (const Value* tools = reader.value("tools")) request.echo.tools = *tools;
  if (const Value* choice = reader.value("tool_choice")) request.echo.tool_choice = *choice;
  read_objects(reader, request);
  read_generation_fields(reader, model, generation);
  reader.read("max_output_tokens", generation.most_tokens, Integers{1, std::numeric_limits<std::int32_t>::max()});
  check_lengths(reader, generation);
  read_variables(reader, request.asked.chat);
  read_included(reader);
  read_response_constants(reader);
  pass_over_response_fields(reader);
  for (const std::string_view name :
       {"previous_response_id", "conversation", "prompt", "moderation", "context_management"}) {
    reader.refused(name, name);
  }
  if (generation.choices != 1) reader.fail(not_served_yet("n", "n other than 1"));
  TRY(reader.finish());
  return request;
}

}  // namespace

Outcome<ResponsesRequest> read_responses_request(const chat::Dictionary& body, const ServedModel& model) {
  FieldReader reader(body);
  return read_response_from(reader, model);
}

std::vector<KnownField> fields_of_responses_requests() {
  const chat::Dictionary empty;
  FieldReader reader(empty);
  (void)read_response_from(reader, {});
  return reader.known();
}

}  // namespace ingot::protocol
