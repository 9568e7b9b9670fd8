#include "server/protocol/llama_request.h"

#include <algorithm>

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;
using Prompt = std::vector<TokenInput>;

constexpr std::string_view expected_prompt =
    "a text, a list of tokens and texts, an object with a prompt_string, or a list of these";

bool is_sequence(const Value& value) { return value.is(Kind::sequence); }

// One prompt in parts, not a list of prompts: it has a token.
bool is_in_parts(const Value& value) {
  return is_sequence(value) &&
         std::ranges::any_of(value.items(), [](const Value& item) { return whole_number(item).has_value(); });
}

Outcome<Prompt> read_parts(const Value& list, const std::string& place, std::int64_t vocabulary) {
  Prompt parts;
  for (std::size_t index = 0; index < list.items().size(); ++index) {
    const Value& item = list.items()[index];
    if (item.is_text()) {
      parts.emplace_back(item.bytes());
      continue;
    }
    const std::string item_place = place + "[" + std::to_string(index) + "]";
    const std::optional<std::int64_t> token = whole_number(item);
    if (!token || *token < 0 || *token >= vocabulary) {
      return wrong_field(item_place, item_place + ": expected a text or a token from 0 to " +
                                         std::to_string(vocabulary - 1) + ", found " + described(item));
    }
    if (parts.empty() || parts.back().index() == 0) parts.emplace_back(std::vector<std::int32_t>());
    std::get<1>(parts.back()).push_back(static_cast<std::int32_t>(*token));
  }
  return parts;
}

Outcome<Prompt> read_prompt(const Value& value, const std::string& place, std::int64_t vocabulary) {
  Prompt prompt;
  if (value.is_text()) {
    prompt.emplace_back(value.bytes());
    return prompt;
  }
  if (is_in_parts(value)) return read_parts(value, place, vocabulary);
  if (!value.is(Kind::dictionary)) {
    return wrong_field(place, place + ": expected " + std::string(expected_prompt) + ", found " + described(value));
  }
  FieldReader reader(value.as_dictionary(), place);
  std::string text;
  reader.require("prompt_string", "a text");
  reader.read("prompt_string", text);
  reader.refused("multimodal_data", "multimodal_data");
  TRY(reader.finish());
  prompt.emplace_back(std::move(text));
  return prompt;
}

Outcome<std::vector<Prompt>> read_prompts(const Value& value, std::int64_t vocabulary) {
  std::vector<Prompt> prompts;
  if (!is_sequence(value) || is_in_parts(value)) {
    prompts.push_back(TRY(read_prompt(value, "prompt", vocabulary)));
    return prompts;
  }
  const std::vector<Value>& items = value.items();
  if (items.empty() || items.size() > most_inputs) {
    return wrong_field(
        "prompt", "prompt: expected from 1 to " + std::to_string(most_inputs) + " of them, found " + described(value));
  }
  for (std::size_t index = 0; index < items.size(); ++index) {
    prompts.push_back(TRY(read_prompt(items[index], "prompt[" + std::to_string(index) + "]", vocabulary)));
  }
  return prompts;
}

// -1: whatever would be taken without it.
constexpr auto any_llama_seed = std::numeric_limits<std::uint64_t>::max();

// -1, and nothing, are as many as fit. The second is the name that others have for the first.
void read_predicted_length(FieldReader& reader, GenerationRequest& request) {
  for (const std::string_view name : {"max_tokens", "n_predict"}) {
    std::optional<std::int64_t> length;
    reader.read(name, length, Integers{-1, std::numeric_limits<std::int32_t>::max()});
    if (!length) continue;
    if (*length == 0) reader.fail(name, "at least 1, or -1 for as many as fit", Value::integer(0));
    request.most_tokens = *length > 0 ? length : std::nullopt;
  }
}

void read_likely_tokens(FieldReader& reader, GenerationRequest& request) {
  std::int64_t most_likely = 0;
  reader.read("n_probs", most_likely, {0, most_likely_tokens});
  request.tells_probabilities = most_likely > 0;
  if (most_likely > 0) request.text.most_likely = most_likely;
}

}  // namespace

Outcome<LlamaRequest> read_llama_request(const chat::Dictionary& body, const ServedModel& model) {
  LlamaRequest request;
  FieldReader reader(body);
  reader.require("prompt", expected_prompt);
  if (const Value* prompt = reader.value("prompt")) {
    Outcome<std::vector<Prompt>> prompts = read_prompts(*prompt, model.vocabulary);
    if (prompts.ok()) {
      request.prompts = std::move(prompts).value();
    } else {
      reader.fail(prompts.error());
    }
  }
  read_generation_fields(reader, model, request.generation, BiasForm::llama);
  if (request.generation.seed == any_llama_seed) request.generation.seed = model.seed;
  read_predicted_length(reader, request.generation);
  check_lengths(reader, request.generation);
  read_likely_tokens(reader, request.generation);
  reader.read("return_tokens", request.returns_tokens);
  TRY(reader.finish());
  return request;
}

}  // namespace ingot::protocol
