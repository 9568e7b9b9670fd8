#include "server/protocol/completion_answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "model/tokenizer/detokenizer.h"
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

// As an answer's text is, with U+FFFD for bytes that are no character: what is counted is what is shown.
std::string decoded(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens) {
  Detokenizer detokenizer(tokenizer, {.keeps_special_tokens = true});
  std::string text;
  for (const std::int32_t token : tokens) text += detokenizer.push(token);
  return text + detokenizer.finish();
}

// How many bytes of a text are a token's, which is spelled so: all, or but for the space in front that a tokenizer adds
// to a text; or none where it is not there, as a token that marks the text's begin.
std::size_t bytes_within(std::string_view text, std::string_view spelled) {
  if (text.starts_with(spelled)) return spelled.size();
  if (spelled.starts_with(' ') && text.starts_with(spelled.substr(1))) return spelled.size() - 1;
  return 0;
}

}  // namespace

void CompletionAnswer::add_lists(JsonWriter& writer, const Probabilities& probabilities) {
  const auto add = [&](std::string_view name, std::string_view list) {
    writer.key(name).open_list().raw(list).close_list();
  };
  writer.key("logprobs").open_object();
  add("tokens", probabilities.tokens);
  add("token_logprobs", probabilities.values);
  add("top_logprobs", probabilities.most_likely);
  add("text_offset", probabilities.offsets);
  writer.close_object();
}

CompletionAnswer::CompletionAnswer(AnswerHead head, const CompletionRequest& request, const Tokenizer& tokenizer)
    : OpenAiAnswer(std::move(head), request.generation, std::ssize(request.prompts),
                   {"text_completion", "text_completion"}),
      tokenizer_(&tokenizer),
      choices_(static_cast<std::size_t>(choice_count())) {
  if (!request.echoes) return;
  for (const TokenInput& prompt : request.prompts) {
    const auto* text = std::get_if<std::string>(&prompt);
    echoes_.push_back(text != nullptr ? *text : decoded(tokenizer, std::get<1>(prompt)));
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
    JsonWriter writer(piece());
    add_lists(writer, *probabilities);
  }
  end_text_chunk();
}

void CompletionAnswer::take_prompt(std::int64_t choice, std::span<const ChosenToken> prompt) {
  if (!tells_probabilities() || echoes_.empty()) return;
  const std::string_view echo = echo_of(choice);
  Probabilities probabilities;
  Detokenizer detokenizer(*tokenizer_, {.keeps_special_tokens = true});
  std::string_view rest = echo;
  std::size_t offset = 0;
  for (const ChosenToken& token : prompt) {
    append(probabilities, token, offset);
    const std::size_t bytes = bytes_within(rest, detokenizer.push(token.token));
    offset += count_characters(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  Choice& state = choice_at(choice);
  state.has_begun = true;
  state.echoed = count_characters(echo);
  put(choice, echo, &probabilities);
}

void CompletionAnswer::begin(std::int64_t choice) {
  Choice& state = choice_at(choice);
  if (state.has_begun) return;
  state.has_begun = true;
  const std::string_view echo = echo_of(choice);
  state.echoed = count_characters(echo);
  if (!echo.empty()) put(choice, echo, nullptr);
}

void CompletionAnswer::write_progress(std::int64_t choice, const PromptProgress& progress) {
  begin_chunk(choice);
  piece() += R"("text":"","logprobs":null)";
  end_progress_chunk(progress);
}

void CompletionAnswer::take_token(std::int64_t choice, const ChosenToken& chosen) {
  begin(choice);
  if (!tells_probabilities()) {
    if (!chosen.text.empty()) put(choice, chosen.text, nullptr);
    return;
  }
  Probabilities probabilities;
  append(probabilities, chosen, choice_at(choice).echoed + chosen.offset);
  put(choice, chosen.text, &probabilities);
}

void CompletionAnswer::take_rest(std::int64_t choice, const GenerationEnding& ending) {
  begin(choice);
  if (tells_probabilities() && ending.last) {
    Probabilities probabilities;
    append(probabilities, *ending.last, choice_at(choice).echoed + ending.last->offset);
    put(choice, ending.text, &probabilities);
  } else if (!ending.text.empty()) {
    put(choice, ending.text, nullptr);
  }
}

void CompletionAnswer::add_choice(JsonWriter& writer, std::int64_t choice) {
  const Choice state = std::exchange(choice_at(choice), {});
  writer.key("text").text(state.text);
  if (tells_probabilities()) {
    add_lists(writer, state.probabilities);
  } else {
    writer.key("logprobs").null();
  }
}

}  // namespace ingot::protocol
