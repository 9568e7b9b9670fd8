#include "server/protocol/chat_answer.h"

#include <utility>

#include "server/protocol/token_spelling.h"

namespace ingot::protocol {

namespace {

// `of_tokens`: JSON, what stands between the brackets.
void add_probabilities(JsonWriter& writer, std::string_view of_tokens) {
  writer.key("logprobs").open_object().key("content").open_list().raw(of_tokens).close_list();
  writer.key("refusal").null().close_object();
}

}  // namespace

ChatAnswer::ChatAnswer(AnswerHead head, const ChatRequest& request, const Tokenizer& tokenizer)
    : OpenAiAnswer(std::move(head), request.generation, 1, {"chat.completion", "chat.completion.chunk"}),
      tokenizer_(&tokenizer),
      choices_(static_cast<std::size_t>(choice_count())) {}

void ChatAnswer::append_probabilities(std::string& json, const ChosenToken& chosen) const {
  JsonWriter writer(json);
  writer.open_object();
  add_token(writer, *tokenizer_, chosen.token, chosen.log_probability);
  writer.key("top_logprobs").open_list();
  for (const TokenProbability& likely : chosen.most_likely) {
    writer.open_object();
    add_token(writer, *tokenizer_, likely.token, likely.log_probability);
    writer.close_object();
  }
  writer.close_list().close_object();
}

void ChatAnswer::begin(std::int64_t choice) {
  bool& has_begun = choices_[static_cast<std::size_t>(choice)].has_begun;
  if (has_begun) return;
  has_begun = true;
  begin_chunk(choice);
  piece() += R"("delta":{"role":"assistant","content":null,"refusal":null},"logprobs":null)";
  end_chunk();
}

void ChatAnswer::write_text(std::int64_t choice, std::string_view text, const ChosenToken* chosen) {
  begin_chunk(choice);
  piece() += R"("delta":{"content":")";
  append_escaped(piece(), text);
  piece() += "\"},";
  if (chosen != nullptr) {
    std::string of_token;
    append_probabilities(of_token, *chosen);
    JsonWriter writer(piece());
    add_probabilities(writer, of_token);
  } else {
    piece() += "\"logprobs\":null";
  }
  end_text_chunk();
}

void ChatAnswer::take_token(std::int64_t choice, const ChosenToken& chosen) {
  if (is_streamed()) {
    begin(choice);
    if (tells_probabilities()) {
      write_text(choice, chosen.text, &chosen);
    } else if (!chosen.text.empty()) {
      write_text(choice, chosen.text, nullptr);
    }
    return;
  }
  Choice& state = choices_[static_cast<std::size_t>(choice)];
  state.text += chosen.text;
  if (!tells_probabilities()) return;
  if (!state.probabilities.empty()) state.probabilities += ',';
  append_probabilities(state.probabilities, chosen);
}

void ChatAnswer::take_rest(std::int64_t choice, const GenerationEnding& ending) {
  if (!is_streamed()) {
    choices_[static_cast<std::size_t>(choice)].text += ending.text;
    return;
  }
  begin(choice);
  if (!ending.text.empty()) write_text(choice, ending.text, nullptr);
}

void ChatAnswer::add_choice(JsonWriter& writer, std::int64_t choice) {
  const Choice state = std::exchange(choices_[static_cast<std::size_t>(choice)], {});
  writer.key("message").open_object();
  writer.key("role").text("assistant").key("content").text(state.text).key("refusal").null().close_object();
  if (tells_probabilities()) {
    add_probabilities(writer, state.probabilities);
  } else {
    writer.key("logprobs").null();
  }
}

}  // namespace ingot::protocol
