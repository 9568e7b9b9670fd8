// The answer of POST /v1/completions: text_completion, whole or as a stream.
//
// With probabilities, text_offset says where in the choice's text a token begins, in characters: how many of the text
// come before it. A token within a character begins where that does. A prompt that is
// echoed comes first, its first token with null, since nothing says how likely that was. The tokens beside one are an
// object by their names; the one that was chosen is always among them. The token that ended a choice is the last of the
// list, though not of the text: programs that measure texts (lm-eval) ask for one token more and take it off again.
#pragma once

#include "model/tokenizer/tokenizer.h"
#include "server/protocol/completion_request.h"
#include "server/protocol/openai_answer.h"

namespace ingot::protocol {

class CompletionAnswer : public OpenAiAnswer {
 public:
  // The tokenizer must outlive it.
  CompletionAnswer(AnswerHead head, const CompletionRequest& request, const Tokenizer& tokenizer);

 private:
  // Four lists side by side: JSON, what stands between the brackets of each.
  struct Probabilities {
    std::string tokens, values, most_likely, offsets;
  };
  struct Choice {
    bool has_begun = false;  // the prompt was echoed where it should be
    std::size_t echoed = 0;  // characters of it
    std::string text;        // of an answer in one piece
    Probabilities probabilities;
  };

  void take_prompt(std::int64_t choice, std::span<const ChosenToken> prompt) override;
  void write_progress(std::int64_t choice, const PromptProgress& progress) override;
  void take_token(std::int64_t choice, const ChosenToken& chosen) override;
  void take_rest(std::int64_t choice, const GenerationEnding& ending) override;
  void add_choice(JsonWriter& writer, std::int64_t choice) override;
  std::string_view empty_delta() const override { return "\"text\":\"\""; }

  Choice& choice_at(std::int64_t choice) { return choices_[static_cast<std::size_t>(choice)]; }
  std::string_view echo_of(std::int64_t choice) const;
  void begin(std::int64_t choice);
  // Sends it, or keeps it for the whole.
  void put(std::int64_t choice, std::string_view text, const Probabilities* probabilities);
  static void add_lists(JsonWriter& writer, const Probabilities& probabilities);
  void append(Probabilities& probabilities, const ChosenToken& chosen, std::size_t offset) const;

  const Tokenizer* tokenizer_;
  std::vector<std::string> echoes_;  // one for each prompt; none where nothing is echoed
  std::vector<Choice> choices_;
};

}  // namespace ingot::protocol
