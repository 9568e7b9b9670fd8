#include "server/protocol/completion_answer.h"

#include <algorithm>
#include <cmath>

#include "server/protocol/token_spelling.h"

namespace ingot::protocol {

namespace {

std::string name_of_token(const Tokenizer& tokenizer, std::int32_t token) {
  return spelling(tokenizer.piece(token), "bytes:");
}

std::string number_text(float value) {
  std::string text;
  append_number(text, told_probability(value));
  return text;
}

// An object by name. Of two tokens with one name the likelier one counts.
std::string most_likely_object(const Tokenizer& tokenizer, const ChosenToken& chosen) {
  std::vector<std::pair<std::string, float>> named;
  const auto add = [&](std::int32_t token, float log_probability) {
    std::string name = name_of_token(tokenizer, token);
    const auto has_name = [&](const auto& other) { return other.first == name; };
    if (std::ranges::none_of(named, has_name)) named.emplace_back(std::move(name), log_probability);
  };
  for (const TokenProbability& likely : chosen.most_likely) add(likely.token, likely.log_probability);
  add(chosen.token, chosen.log_probability);
  std::string json;
  JsonWriter writer(json);
  writer.open_object();
  for (const auto& [name, log_probability] : named) writer.key(name).number(told_probability(log_probability));
  writer.close_object();
  return json;
}

// How many bytes of a text are this token's: all of its piece, or but for the space in front that a tokenizer adds to a
// text; or none where it is not there, as a token that marks the text's begin.
std::size_t bytes_within(std::string_view text, std::string_view piece) {
  if (text.starts_with(piece)) return piece.size();
  if (piece.starts_with(' ') && text.starts_with(piece.substr(1))) return piece.size() - 1;
  return 0;
}

void append_lists(std::string& json, std::string_view tokens, std::string_view values, std::string_view most_likely,
                  std::string_view offsets) {
  const auto add = [&](std::string_view name, std::string_view list) {
    json += name;
    json += list;
    json += ']';
  };
  add("\"logprobs\":{\"tokens\":[", tokens);
  add(",\"token_logprobs\":[", values);
  add(",\"top_logprobs\":[", most_likely);
  add(",\"text_offset\":[", offsets);
  json += '}';
}

}  // namespace

CompletionAnswer::CompletionAnswer(AnswerHead head, const CompletionRequest& request, const Tokenizer& tokenizer)
    : OpenAiAnswer(std::move(head), request.generation, std::ssize(request.prompts),
                   {"text_completion", "text_completion"}),
      tokenizer_(&tokenizer),
      choices_(static_cast<std::size_t>(choice_count())) {
  if (!request.echoes) return;
  for (const TokenInput& prompt : request.prompts) {
    const auto* text = std::get_if<std::string>(&prompt);
    echoes_.push_back(text != nullptr ? *text : tokenizer.decode(std::get<1>(prompt), {.keeps_special_tokens = true}));
  }
}

std::string_view CompletionAnswer::echo_of(std::int64_t choice) const {
  return echoes_.empty() ? std::string_view() : echoes_[static_cast<std::size_t>(choice / choices_of_a_prompt())];
}

void CompletionAnswer::append(Probabilities& probabilities, const ChosenToken& chosen, std::size_t offset) const {
  std::string name;
  JsonWriter(name).text(name_of_token(*tokenizer_, chosen.token));
  append_item(probabilities.tokens, name);
  const bool is_known = !std::isnan(chosen.log_probability);
  append_item(probabilities.values, is_known ? number_text(chosen.log_probability) : "null");
  append_item(probabilities.most_likely, is_known ? most_likely_object(*tokenizer_, chosen) : "null");
  append_item(probabilities.offsets, std::to_string(offset));
}

void CompletionAnswer::put(std::int64_t choice, std::string_view text, const Probabilities* probabilities) {
  if (!is_streamed()) {
    Choice& state = choice_at(choice);
    state.text += text;
    if (probabilities == nullptr) return;
    append_item(state.probabilities.tokens, probabilities->tokens);
    append_item(state.probabilities.values, probabilities->values);
    append_item(state.probabilities.most_likely, probabilities->most_likely);
    append_item(state.probabilities.offsets, probabilities->offsets);
    return;
  }
  begin_chunk(choice);
  piece() += "\"text\":\"";
  append_escaped(piece(), text);
  piece() += "\",";
  if (probabilities == nullptr) {
    piece() += "\"logprobs\":null";
  } else {
    append_lists(piece(), probabilities->tokens, probabilities->values, probabilities->most_likely,
                 probabilities->offsets);
  }
  end_text_chunk();
}

void CompletionAnswer::take_prompt(std::int64_t choice, std::span<const ChosenToken> prompt) {
  if (!tells_probabilities() || echoes_.empty()) return;
  Choice& state = choice_at(choice);
  const std::string_view echo = echo_of(choice);
  Probabilities probabilities;
  std::string_view rest = echo;
  for (const ChosenToken& token : prompt) {
    append(probabilities, token, state.offset);
    const std::size_t bytes = bytes_within(rest, tokenizer_->piece(token.token));
    state.offset += count_characters(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  state.has_begun = true;
  state.offset = count_characters(echo);
  put(choice, echo, &probabilities);
}

void CompletionAnswer::begin(std::int64_t choice) {
  Choice& state = choice_at(choice);
  if (state.has_begun) return;
  state.has_begun = true;
  const std::string_view echo = echo_of(choice);
  state.offset = count_characters(echo);
  if (!echo.empty()) put(choice, echo, nullptr);
}

void CompletionAnswer::take_token(std::int64_t choice, const ChosenToken& chosen) {
  begin(choice);
  if (!tells_probabilities()) {
    if (!chosen.text.empty()) put(choice, chosen.text, nullptr);
    return;
  }
  Choice& state = choice_at(choice);
  Probabilities probabilities;
  append(probabilities, chosen, state.offset);
  // Special tokens are no part of the text.
  if (!tokenizer_->is_special(chosen.token)) state.offset += count_characters(tokenizer_->piece(chosen.token));
  put(choice, chosen.text, &probabilities);
}

void CompletionAnswer::take_rest(std::int64_t choice, const GenerationEnding& ending) {
  begin(choice);
  if (tells_probabilities() && ending.last) {
    Probabilities probabilities;
    append(probabilities, *ending.last, choice_at(choice).offset);
    put(choice, ending.text, &probabilities);
  } else if (!ending.text.empty()) {
    put(choice, ending.text, nullptr);
  }
}

void CompletionAnswer::add_choice(JsonWriter& writer, std::int64_t choice) const {
  const Choice& state = choices_[static_cast<std::size_t>(choice)];
  writer.key("text").text(state.text);
  if (!tells_probabilities()) {
    writer.key("logprobs").null();
    return;
  }
  std::string lists;
  append_lists(lists, state.probabilities.tokens, state.probabilities.values, state.probabilities.most_likely,
               state.probabilities.offsets);
  writer.raw(lists);
}

}  // namespace ingot::protocol
