#include "engine/conversation.h"

#include <algorithm>

#include "engine/chat_prompt.h"
#include "model/calls/chat_with_tools.h"

namespace ingot {

Result<Conversation> Conversation::create(Session& session, const Tokenizer& tokenizer, std::string source) {
  chat::ChatTemplate form = TRY(chat::ChatTemplate::parse(std::move(source)));
  const int sequence = TRY(session.sequences().add());
  return Conversation(session, tokenizer, std::move(form), sequence);
}

void Conversation::restart(std::string system_message) {
  messages_.clear();
  open_calls_.clear();
  if (!system_message.empty()) messages_.push_back(chat::make_message("system", std::move(system_message)));
}

void Conversation::resume(std::vector<chat::Value> messages) {
  messages_ = std::move(messages);
  open_calls_.clear();
}

Result<chat::MarkedText> Conversation::render(std::span<const chat::Value> messages) const {
  chat::ChatRequest request;
  request.messages.assign(messages.begin(), messages.end());
  if (format_ != nullptr) {
    calls::ChatWithTools with_tools =
        TRY(calls::chat_with_tools(*format_, std::move(request.messages), offered_.tools));
    request.messages = std::move(with_tools.messages);
    request.tools = std::move(with_tools.tools);
  }
  return render_chat(template_, *tokenizer_, std::move(request));
}

Result<std::size_t> Conversation::keep_common_part(std::span<const TokenId> wanted) {
  const auto difference = std::mismatch(in_memory_.begin(), in_memory_.end(), wanted.begin(), wanted.end());
  auto common = static_cast<std::size_t>(difference.first - in_memory_.begin());
  common = std::min(common, wanted.size() - 1);
  // What cannot be turned back is begun again.
  if (!session_->sequences().can_truncate(sequence_, static_cast<std::int64_t>(common))) common = 0;
  TRY(session_->sequences().truncate(sequence_, static_cast<std::int64_t>(common)));
  in_memory_.resize(common);
  return common;
}

Result<GenerationReport> Conversation::generate_answer(const chat::MarkedText& prompt, Sampler& sampler,
                                                       std::int64_t most_tokens, const TextCallback& on_text,
                                                       std::shared_ptr<const grammar::Constraint> constraint) {
  const std::vector<TokenId> tokens = TRY(encode_chat(*tokenizer_, prompt));
  if (tokens.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected the chat template to write a prompt, found nothing");
  }
  const std::size_t common = TRY(keep_common_part(tokens));
  const std::span<const TokenId> fresh = std::span(tokens).subspan(common);
  GenerationReport report = TRY(generate(*session_, *tokenizer_, sampler, sequence_, fresh, most_tokens, on_text,
                                         std::move(constraint), mark_tokens_));
  in_memory_.insert(in_memory_.end(), fresh.begin(), fresh.end());
  in_memory_.insert(in_memory_.end(), report.tokens.begin(), report.tokens.end());
  // The last token was chosen but not computed, unless the model ended after it.
  in_memory_.resize(static_cast<std::size_t>(session_->sequences().length(sequence_)));
  return report;
}

Result<GenerationReport> Conversation::answer(std::string user_message, Sampler& sampler, std::int64_t most_tokens,
                                              const TextCallback& on_text) {
  std::vector<chat::Value> messages = messages_with(std::move(user_message));
  const chat::MarkedText prompt = TRY(render(messages));
  GenerationReport report = TRY(generate_answer(prompt, sampler, most_tokens, on_text, nullptr));
  messages.push_back(chat::make_message("assistant", report.text));
  messages_ = std::move(messages);
  return report;
}

}  // namespace ingot
