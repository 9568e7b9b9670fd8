// The answer of POST /v1/chat/completions: chat.completion, or a stream of chat.completion.chunk.
//
// A choice's first chunk says whose words follow, its last one why they end. A token whose text is still to come has
// no chunk of its own, unless its probability was asked for. The token that ends a choice is not told: it is no part of
// the message.
#pragma once

#include "model/tokenizer/tokenizer.h"
#include "server/protocol/chat_request.h"
#include "server/protocol/openai_answer.h"

namespace ingot::protocol {

class ChatAnswer : public OpenAiAnswer {
 public:
  // The tokenizer must outlive it.
  ChatAnswer(AnswerHead head, const ChatRequest& request, const Tokenizer& tokenizer);

 private:
  struct Choice {
    bool has_begun = false;     // of a stream: whose words they are was said
    std::string text;           // of an answer in one piece
    std::string probabilities;  // the same: JSON, what stands between the brackets
  };

  void take_token(std::int64_t choice, const ChosenToken& chosen) override;
  void take_rest(std::int64_t choice, const GenerationEnding& ending) override;
  void add_choice(JsonWriter& writer, std::int64_t choice) override;
  std::string_view empty_delta() const override { return "\"delta\":{}"; }

  void begin(std::int64_t choice);
  void write_text(std::int64_t choice, std::string_view text, const ChosenToken* chosen);
  void append_probabilities(std::string& json, const ChosenToken& chosen) const;

  const Tokenizer* tokenizer_;
  std::vector<Choice> choices_;
};

}  // namespace ingot::protocol
