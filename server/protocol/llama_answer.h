// The answer of POST /completion in llama-server's form: an object, a list of them where there are several choices, or
// a stream of chunks, one for each token, of which a choice's last says how it ended. No [DONE] is behind it.
#pragma once

#include "model/tokenizer/tokenizer.h"
#include "server/protocol/generation_answer.h"
#include "server/protocol/llama_request.h"

namespace ingot::protocol {

class LlamaAnswer : public GenerationAnswer {
 public:
  // `choices` are what was made of the request. The tokenizer must outlive it.
  LlamaAnswer(std::string model, const LlamaRequest& request, std::span<const TextRequest> choices,
              const Tokenizer& tokenizer);

 private:
  struct Choice {
    std::string settings;       // JSON: how it is drawn and when it ends
    std::string prompt;         // as the model reads it
    std::string text;           // of an answer in one piece; of a stream, what is still to be told
    std::string tokens;         // JSON, what stands between the brackets
    std::string probabilities;  // the same
    std::string stop;           // the stop string that came
    bool has_new_line = false;
  };

  void take_token(std::int64_t choice, const ChosenToken& chosen) override;
  void take_rest(std::int64_t choice, const GenerationEnding& ending) override;
  void write_end(std::int64_t choice) override;
  std::string write_whole() const override;

  Choice& choice_at(std::int64_t choice) { return choices_[static_cast<std::size_t>(choice)]; }
  const Choice& choice_at(std::int64_t choice) const { return choices_[static_cast<std::size_t>(choice)]; }
  void add_text(JsonWriter& writer, std::int64_t choice) const;
  void add_end(JsonWriter& writer, std::int64_t choice) const;
  void append_probabilities(std::string& json, const ChosenToken& chosen) const;

  const Tokenizer* tokenizer_;
  std::string model_;
  bool returns_tokens_, fills_context_;
  std::vector<Choice> choices_;
};

}  // namespace ingot::protocol
