// Conversation: a chat with a model. Messages are rendered by the model's own chat template; what the sequence holds
// already is not computed again.
#pragma once

#include "engine/generator.h"
#include "model/chat/chat_context.h"
#include "model/chat/chat_template.h"

namespace ingot {

class Conversation {
 public:
  // `source` is the template's Jinja text. Takes a sequence of the session, which must outlive this.
  static Result<Conversation> create(Session& session, const Tokenizer& tokenizer, std::string source);

  // A system message stands before all others; empty: none. Forgets the messages so far.
  void restart(std::string system_message);

  // Adds the user's message, generates an answer and adds that too. If the generation fails, neither is added.
  Result<GenerationReport> answer(std::string user_message, Sampler& sampler, std::int64_t most_tokens,
                                  const TextCallback& on_text);

  std::size_t message_count() const { return messages_.size(); }
  std::int64_t tokens_in_memory() const { return static_cast<std::int64_t>(in_memory_.size()); }

 private:
  Conversation(Session& session, const Tokenizer& tokenizer, chat::ChatTemplate form, int sequence)
      : session_(&session), tokenizer_(&tokenizer), template_(std::move(form)), sequence_(sequence) {}
  Result<std::vector<TokenId>> render(std::span<const chat::Value> messages) const;
  // Turns the sequence back to what it has in common with `wanted`; returns how much that is. At least one token is
  // left to compute.
  Result<std::size_t> keep_common_part(std::span<const TokenId> wanted);

  Session* session_;
  const Tokenizer* tokenizer_;
  chat::ChatTemplate template_;
  int sequence_;
  std::vector<chat::Value> messages_;
  std::vector<TokenId> in_memory_;  // what the sequence holds
};

}  // namespace ingot
