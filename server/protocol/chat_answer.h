// The answer of POST /v1/chat/completions: chat.completion, or a stream of chat.completion.chunk.
//
// A choice's first chunk says whose words follow, its last one why they end. A token whose text is still to come has
// no chunk of its own, unless its probability was asked for. The token that ends a choice is not told: it is no part of
// the message.
//
// Thoughts are told apart, as `reasoning_content`, and so are calls: a call's name first, then its arguments as they
// come.
#pragma once

#include "model/tokenizer/tokenizer.h"
#include "server/protocol/answer_reading.h"
#include "server/protocol/chat_request.h"
#include "server/protocol/openai_answer.h"

namespace ingot::protocol {

class ChatAnswer : public OpenAiAnswer {
 public:
  // The tokenizer must outlive it.
  ChatAnswer(AnswerHead head, const ChatRequest& request, const Tokenizer& tokenizer,
             const AnswerReading& reading = {});

 private:
  struct Call {
    std::string name;
    std::string arguments = {};  // of an answer in one piece
  };
  struct Choice {
    explicit Choice(const AnswerReading& reading) : reader(reading) {}

    AnswerReader reader;
    bool has_begun = false;     // of a stream: whose words they are was said
    std::string text;           // of an answer in one piece
    std::string reasoning;      // the same
    std::string probabilities;  // the same: JSON, what stands between the brackets
    std::vector<Call> calls;
  };

  void write_progress(std::int64_t choice, const PromptProgress& progress) override;
  void take_token(std::int64_t choice, const ChosenToken& chosen) override;
  void take_rest(std::int64_t choice, const GenerationEnding& ending) override;
  void add_choice(JsonWriter& writer, std::int64_t choice) override;
  std::string_view empty_delta() const override { return "\"delta\":{}"; }
  bool has_whole_calls(std::int64_t choice) const override {
    return choices_[static_cast<std::size_t>(choice)].reader.has_whole_calls();
  }

  void begin(std::int64_t choice);
  // `chosen` is told with the first of them, where its probability is asked for.
  void take_pieces(std::int64_t choice, const std::vector<calls::AnswerPiece>& pieces, const ChosenToken* chosen);
  void keep(Choice& state, const calls::AnswerPiece& piece) const;
  void write_piece(std::int64_t choice, const calls::AnswerPiece& piece, const ChosenToken* chosen);
  void add_delta(JsonWriter& writer, std::int64_t choice, const calls::AnswerPiece& piece) const;
  void add_calls(JsonWriter& writer, std::int64_t choice, const std::vector<Call>& made) const;
  void append_probabilities(std::string& json, const ChosenToken& chosen) const;

  const Tokenizer* tokenizer_;
  std::vector<Choice> choices_;
};

}  // namespace ingot::protocol
