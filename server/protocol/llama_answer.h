// The answer of POST /completion in llama-server's form: an object, a list of them where there are several choices, or
// a stream of chunks, one for each token, of which a choice's last says how it ended. No [DONE] is behind it.
#pragma once

#include "model/tokenizer/tokenizer.h"
#include "server/protocol/generation_answer.h"
#include "server/protocol/llama_request.h"

namespace ingot::protocol {

class LlamaAnswer : public GenerationAnswer {
 public:
  // `asked` is what was made of the request, one for each prompt. The tokenizer must outlive it.
  LlamaAnswer(std::string model, const LlamaRequest& request, std::span<const TextRequest> asked,
              const Tokenizer& tokenizer);

 private:
  struct Choice {
    std::string text;           // of an answer in one piece; of a stream, what is still to be told
    std::string tokens;         // JSON, what stands between the brackets
    std::string probabilities;  // the same
    std::string stop;           // the stop string that came
    bool has_new_line = false;
  };

  void write_progress(std::int64_t choice, const PromptProgress& progress) override;
  void take_token(std::int64_t choice, const ChosenToken& chosen) override;
  void take_rest(std::int64_t choice, const GenerationEnding& ending) override;
  void write_end(std::int64_t choice) override;
  std::string write_whole() override;

  Choice& choice_at(std::int64_t choice) { return choices_[static_cast<std::size_t>(choice)]; }
  void add_text(JsonWriter& writer, std::int64_t choice);
  void add_end(JsonWriter& writer, std::int64_t choice);
  void add_settings(JsonWriter& writer, std::int64_t choice) const;
  void append_probabilities(std::string& json, const ChosenToken& chosen) const;

  const Tokenizer* tokenizer_;
  std::string model_;
  GenerationRequest request_;  // with the first choice's seed
  bool returns_tokens_;
  std::vector<std::string> prompts_;  // as the model reads them
  std::vector<Choice> choices_;
};

}  // namespace ingot::protocol
