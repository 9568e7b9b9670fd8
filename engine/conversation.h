// Conversation: a chat with a model. Messages are rendered by the model's own chat template; what the sequence holds
// already is not computed again.
#pragma once

#include <functional>
#include <memory>

#include "engine/generator.h"
#include "model/calls/call_parser.h"
#include "model/chat/chat_context.h"
#include "model/chat/chat_template.h"
#include "model/grammar/constraints.h"

namespace ingot {

// What an answer may call, and must.
struct OfferedTools {
  std::vector<calls::Tool> tools;
  calls::ToolChoice choice = calls::ToolChoice::automatic;
  std::string name = {};    // of the tool that must be called, where one is named
  bool is_parallel = true;  // an answer may call several
};

struct CalledTool {
  std::string id;
  std::string name;
  std::string arguments;  // JSON
};

// An answer that was taken apart.
struct CallingAnswer {
  GenerationReport report;
  std::string content;
  std::string reasoning;
  std::vector<CalledTool> calls;  // complete ones
};

class Conversation {
 public:
  // `source` is the template's Jinja text. Takes a sequence of the session, which must outlive this.
  static Result<Conversation> create(Session& session, const Tokenizer& tokenizer, std::string source);

  // A system message stands before all others; empty: none. Forgets the messages so far.
  void restart(std::string system_message);

  // What was said, as templates take it; and to go on from what was said elsewhere, in place of what was said here.
  const std::vector<chat::Value>& messages() const { return messages_; }
  void resume(std::vector<chat::Value> messages);

  // Adds the user's message, generates an answer and adds that too. If the generation fails, neither is added.
  Result<GenerationReport> answer(std::string user_message, Sampler& sampler, std::int64_t most_tokens,
                                  const TextCallback& on_text);

  // Answers may call these from now on; by a template that says how, or in a form that the system message tells. Fails
  // where a schema cannot be held to.
  Result<void> offer(OfferedTools offered);
  // False ends the generation.
  using PieceCallback = std::function<bool(const calls::AnswerPiece&)>;
  // As answer(), with thoughts and calls told apart from the content. Precondition: tools were offered.
  Result<CallingAnswer> answer_or_call(std::string user_message, Sampler& sampler, std::int64_t most_tokens,
                                       const PieceCallback& on_piece);
  // Goes on with the results of the last answer's calls, one for each. A call that must come has come by now.
  Result<CallingAnswer> go_on(const std::vector<std::string>& results, Sampler& sampler, std::int64_t most_tokens,
                              const PieceCallback& on_piece);

  std::int64_t tokens_in_memory() const { return static_cast<std::int64_t>(in_memory_.size()); }

 private:
  Conversation(Session& session, const Tokenizer& tokenizer, chat::ChatTemplate form, int sequence)
      : session_(&session), tokenizer_(&tokenizer), template_(std::move(form)), sequence_(sequence) {}
  // What was said, with a result for each call that nobody answered, and the user's message.
  std::vector<chat::Value> messages_with(std::string user_message) const;
  Result<chat::MarkedText> render(std::span<const chat::Value> messages) const;
  Result<GenerationReport> generate_answer(const chat::MarkedText& prompt, Sampler& sampler, std::int64_t most_tokens,
                                           const TextCallback& on_text,
                                           std::shared_ptr<const grammar::Constraint> constraint);
  Result<CallingAnswer> answer_apart(std::vector<chat::Value> messages, calls::ToolChoice choice, Sampler& sampler,
                                     std::int64_t most_tokens, const PieceCallback& on_piece);
  Result<std::shared_ptr<const grammar::Constraint>> constraint_of(calls::ToolChoice choice, bool begins_in_thought);
  // Turns the sequence back to what it has in common with `wanted`; returns how much that is. At least one token is
  // left to compute.
  Result<std::size_t> keep_common_part(std::span<const TokenId> wanted);

  Session* session_;
  const Tokenizer* tokenizer_;
  chat::ChatTemplate template_;
  int sequence_;
  std::vector<chat::Value> messages_;
  std::vector<TokenId> in_memory_;  // what the sequence holds

  OfferedTools offered_;
  std::shared_ptr<const calls::CallFormat> format_;    // where tools were offered
  std::shared_ptr<grammar::Constraints> constraints_;  // then too
  std::vector<TokenId> mark_tokens_;                   // special ones that the format's marks are
  std::vector<CalledTool> open_calls_;                 // that the last answer made
  std::size_t call_count_ = 0;                         // for their names
};

}  // namespace ingot
