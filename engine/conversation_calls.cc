// Answers that call tools, and what becomes of the results.
#include <algorithm>

#include "engine/conversation.h"
#include "model/calls/call_grammar.h"
#include "model/chat/dictionary.h"

namespace ingot {

using calls::AnswerPiece;
using calls::ToolChoice;
using chat::Dictionary;
using chat::Value;

namespace {

Value call_message(const CallingAnswer& answer) {
  std::vector<Value> list;
  for (const CalledTool& call : answer.calls) {
    Dictionary function;
    function.insert("name", Value::text(call.name));
    function.insert("arguments", Value::text(call.arguments));
    Dictionary entry;
    entry.insert("id", Value::text(call.id));
    entry.insert("type", Value::text("function"));
    entry.insert("function", Value::dictionary(std::move(function)));
    list.push_back(Value::dictionary(std::move(entry)));
  }
  Dictionary message;
  message.insert("role", Value::text("assistant"));
  message.insert("content", Value::text(answer.content));
  if (!answer.reasoning.empty()) message.insert("reasoning_content", Value::text(answer.reasoning));
  if (!list.empty()) message.insert("tool_calls", Value::list(std::move(list)));
  return Value::dictionary(std::move(message));
}

Value result_message(const CalledTool& call, const std::string& result) {
  Dictionary message;
  message.insert("role", Value::text("tool"));
  message.insert("tool_call_id", Value::text(call.id));
  message.insert("name", Value::text(call.name));
  message.insert("content", Value::text(result));
  return Value::dictionary(std::move(message));
}

// The pieces of an answer, put together.
class AnswerParts {
 public:
  void add(const AnswerPiece& piece) {
    switch (piece.kind) {
      case AnswerPiece::Kind::content: answer_.content += piece.text; break;
      case AnswerPiece::Kind::reasoning: answer_.reasoning += piece.text; break;
      case AnswerPiece::Kind::call_begin: open_ = {.id = {}, .name = piece.text, .arguments = {}}; break;
      case AnswerPiece::Kind::call_arguments: open_.arguments += piece.text; break;
      case AnswerPiece::Kind::call_end: answer_.calls.push_back(std::move(open_)); break;
    }
  }
  CallingAnswer take() { return std::move(answer_); }

 private:
  CallingAnswer answer_;
  CalledTool open_;
};

}  // namespace

Result<void> Conversation::offer(OfferedTools offered) {
  const auto spelled = [&](TokenId id) {
    return tokenizer_->is_token(id) ? std::string(tokenizer_->piece(id)) : std::string();
  };
  const calls::TemplateTokens tokens = {.bos_token = spelled(tokenizer_->bos()),
                                        .eos_token = spelled(tokenizer_->eos())};
  format_ = std::make_shared<const calls::CallFormat>(calls::CallFormat::read(template_, tokens));
  mark_tokens_.clear();
  for (const std::string& mark : format_->marks()) {
    const TokenId token = tokenizer_->find(mark);
    if (tokenizer_->is_token(token) && tokenizer_->is_special(token)) mark_tokens_.push_back(token);
  }
  std::ranges::sort(mark_tokens_);
  constraints_ = std::make_shared<grammar::Constraints>(*tokenizer_);
  offered_ = std::move(offered);
  // What cannot be held is refused now, and not with the first answer.
  TRY(constraint_of(offered_.choice, false));
  return {};
}

Result<std::shared_ptr<const grammar::Constraint>> Conversation::constraint_of(ToolChoice choice,
                                                                               bool begins_in_thought) {
  if (choice == ToolChoice::none) return std::shared_ptr<const grammar::Constraint>();
  const bool is_automatic = choice == ToolChoice::automatic;
  const std::string key = std::to_string(static_cast<int>(choice)) + (begins_in_thought ? "in thought" : "");
  return constraints_->of(
      key,
      [&] {
        return calls::call_grammar(*format_, offered_.tools, choice, offered_.name, offered_.is_parallel,
                                   begins_in_thought);
      },
      is_automatic ? calls::call_trigger(*format_, begins_in_thought) : grammar::Trigger());
}

std::vector<Value> Conversation::messages_with(std::string user_message) const {
  std::vector<Value> messages = messages_;
  // Templates may insist on one.
  for (const CalledTool& call : open_calls_) messages.push_back(result_message(call, "no result"));
  messages.push_back(chat::make_message("user", std::move(user_message)));
  return messages;
}

Result<CallingAnswer> Conversation::answer_or_call(std::string user_message, Sampler& sampler, std::int64_t most_tokens,
                                                   const PieceCallback& on_piece) {
  return answer_apart(messages_with(std::move(user_message)), offered_.choice, sampler, most_tokens, on_piece);
}

Result<CallingAnswer> Conversation::go_on(const std::vector<std::string>& results, Sampler& sampler,
                                          std::int64_t most_tokens, const PieceCallback& on_piece) {
  if (results.size() != open_calls_.size()) {
    return Error::of(ErrorCode::invalid_argument, "expected ", open_calls_.size(), " results of calls, found ",
                     results.size());
  }
  std::vector<Value> messages = messages_;
  for (std::size_t index = 0; index < results.size(); ++index) {
    messages.push_back(result_message(open_calls_[index], results[index]));
  }
  const bool is_free = offered_.choice == ToolChoice::none;
  return answer_apart(std::move(messages), is_free ? ToolChoice::none : ToolChoice::automatic, sampler, most_tokens,
                      on_piece);
}

Result<CallingAnswer> Conversation::answer_apart(std::vector<Value> messages, ToolChoice choice, Sampler& sampler,
                                                 std::int64_t most_tokens, const PieceCallback& on_piece) {
  const chat::MarkedText prompt = TRY(render(messages));
  const bool begins_in_thought = format_->opens_thought(prompt.bytes);
  auto constraint = TRY(constraint_of(choice, begins_in_thought));
  calls::AnswerParser parser(*format_, begins_in_thought, choice != ToolChoice::none, offered_.tools);
  AnswerParts parts;
  const auto tell = [&](const std::vector<AnswerPiece>& pieces) {
    bool goes_on = true;
    for (const AnswerPiece& piece : pieces) {
      parts.add(piece);
      goes_on = on_piece(piece) && goes_on;
    }
    return goes_on;
  };
  GenerationReport report = TRY(generate_answer(
      prompt, sampler, most_tokens,
      [&](std::string_view text) {
        // Also where nothing is told: whoever listens may want it to end.
        return tell(parser.take(text)) && on_piece({AnswerPiece::Kind::content, "", 0});
      },
      std::move(constraint)));
  tell(parser.finish());
  CallingAnswer answer = parts.take();
  answer.report = std::move(report);
  for (CalledTool& call : answer.calls) call.id = "call_" + std::to_string(++call_count_);
  messages.push_back(call_message(answer));
  messages_ = std::move(messages);
  open_calls_ = answer.calls;
  return answer;
}

}  // namespace ingot
