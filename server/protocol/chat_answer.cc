#include "server/protocol/chat_answer.h"

#include <utility>

#include "server/protocol/token_spelling.h"

namespace ingot::protocol {

using calls::AnswerPiece;

namespace {

// `of_tokens`: JSON, what stands between the brackets.
void add_probabilities(JsonWriter& writer, std::string_view of_tokens) {
  writer.key("logprobs").open_object().key("content").open_list().raw(of_tokens).close_list();
  writer.key("refusal").null().close_object();
}

}  // namespace

ChatAnswer::ChatAnswer(AnswerHead head, const ChatRequest& request, const Tokenizer& tokenizer,
                       const AnswerReading& reading)
    : OpenAiAnswer(std::move(head), request.generation, 1, {"chat.completion", "chat.completion.chunk"}),
      tokenizer_(&tokenizer) {
  for (std::int64_t choice = 0; choice < choice_count(); ++choice) choices_.emplace_back(reading);
}

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

void ChatAnswer::write_progress(std::int64_t choice, const PromptProgress& progress) {
  begin(choice);
  begin_chunk(choice);
  piece().append(empty_delta()).append(",\"logprobs\":null");
  end_progress_chunk(progress);
}

void ChatAnswer::add_delta(JsonWriter& writer, std::int64_t choice, const AnswerPiece& piece) const {
  if (piece.kind == AnswerPiece::Kind::content) {
    writer.key("content").text(piece.text);
    return;
  }
  if (piece.kind == AnswerPiece::Kind::reasoning) {
    writer.key("reasoning_content").text(piece.text);
    return;
  }
  const bool is_begin = piece.kind == AnswerPiece::Kind::call_begin;
  writer.key("tool_calls").open_list().open_object().key("index").number(piece.call);
  if (is_begin) writer.key("id").text(call_id(id(), choice, piece.call)).key("type").text("function");
  writer.key("function").open_object();
  if (is_begin) writer.key("name").text(piece.text);
  writer.key("arguments").text(is_begin ? "" : piece.text).close_object();
  writer.close_object().close_list();
}

void ChatAnswer::write_piece(std::int64_t choice, const AnswerPiece& piece, const ChosenToken* chosen) {
  begin_chunk(choice);
  JsonWriter writer(this->piece());
  writer.key("delta").open_object();
  add_delta(writer, choice, piece);
  writer.close_object();
  if (chosen != nullptr) {
    std::string of_token;
    append_probabilities(of_token, *chosen);
    add_probabilities(writer, of_token);
  } else {
    writer.key("logprobs").null();
  }
  end_text_chunk();
}

void ChatAnswer::keep(Choice& state, const AnswerPiece& piece) const {
  using enum AnswerPiece::Kind;
  if (piece.kind == call_begin) state.calls.push_back({.name = piece.text});
  if (is_streamed()) return;
  if (piece.kind == content) state.text += piece.text;
  if (piece.kind == reasoning) state.reasoning += piece.text;
  if (piece.kind == call_arguments && !state.calls.empty()) state.calls.back().arguments += piece.text;
}

void ChatAnswer::take_pieces(std::int64_t choice, const std::vector<AnswerPiece>& pieces, const ChosenToken* chosen) {
  Choice& state = choices_[static_cast<std::size_t>(choice)];
  for (const AnswerPiece& piece : pieces) {
    keep(state, piece);
    if (!is_streamed() || piece.kind == AnswerPiece::Kind::call_end) continue;
    write_piece(choice, piece, std::exchange(chosen, nullptr));
  }
  // A token whose text is still to come.
  if (is_streamed() && chosen != nullptr) write_piece(choice, {.kind = AnswerPiece::Kind::content, .text = ""}, chosen);
}

void ChatAnswer::take_token(std::int64_t choice, const ChosenToken& chosen) {
  Choice& state = choices_[static_cast<std::size_t>(choice)];
  if (is_streamed()) begin(choice);
  take_pieces(choice, state.reader.take(chosen.text), tells_probabilities() ? &chosen : nullptr);
  if (is_streamed() || !tells_probabilities()) return;
  if (!state.probabilities.empty()) state.probabilities += ',';
  append_probabilities(state.probabilities, chosen);
}

void ChatAnswer::take_rest(std::int64_t choice, const GenerationEnding& ending) {
  Choice& state = choices_[static_cast<std::size_t>(choice)];
  if (is_streamed()) begin(choice);
  take_pieces(choice, state.reader.take(ending.text), nullptr);
  take_pieces(choice, state.reader.finish(), nullptr);
}

void ChatAnswer::add_calls(JsonWriter& writer, std::int64_t choice, const std::vector<Call>& made) const {
  writer.key("tool_calls").open_list();
  for (std::size_t call = 0; call < made.size(); ++call) {
    writer.open_object().key("id").text(call_id(id(), choice, call)).key("type").text("function");
    writer.key("function").open_object().key("name").text(made[call].name);
    writer.key("arguments").text(made[call].arguments).close_object().close_object();
  }
  writer.close_list();
}

void ChatAnswer::add_choice(JsonWriter& writer, std::int64_t choice) {
  const Choice state = std::exchange(choices_[static_cast<std::size_t>(choice)], Choice({}));
  writer.key("message").open_object().key("role").text("assistant").key("content");
  if (state.text.empty() && !state.calls.empty()) {
    writer.null();
  } else {
    writer.text(state.text);
  }
  writer.key("refusal").null();
  if (!state.reasoning.empty()) writer.key("reasoning_content").text(state.reasoning);
  if (!state.calls.empty()) add_calls(writer, choice, state.calls);
  writer.close_object();
  if (tells_probabilities()) {
    add_probabilities(writer, state.probabilities);
  } else {
    writer.key("logprobs").null();
  }
}

}  // namespace ingot::protocol
