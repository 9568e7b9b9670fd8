// OpenAiAnswer: what chats and completions have in common in OpenAI's form. ChatAnswer and CompletionAnswer say what a
// choice is.
//
// Ends: the model's own and a stop are "stop", or "tool_calls" where it called any and no call broke off: whoever reads
// that runs them. The limit of tokens is "length". A stream ends with [DONE].
#pragma once

#include "server/protocol/generation_answer.h"

namespace ingot::protocol {

struct AnswerHead {
  std::string id = {};
  std::string model = {};
  std::string fingerprint = {};  // of all that an answer follows from beside the request
  std::int64_t created = 0;      // seconds since 1970
  // As the model reads it, special tokens spelled out; told at the end, as llama-server does where it is verbose.
  std::optional<std::string> prompt = {};
};

class OpenAiAnswer : public GenerationAnswer {
 protected:
  struct Forms {
    std::string_view whole;  // OpenAI's names of the objects
    std::string_view chunk;
  };
  OpenAiAnswer(AnswerHead head, const GenerationRequest& request, std::int64_t prompts, Forms forms);

  // Between the index and the finish reason, for the whole answer, which is then all that holds it.
  virtual void add_choice(JsonWriter& writer, std::int64_t choice) = 0;
  virtual std::string_view empty_delta() const = 0;
  virtual bool has_whole_calls(std::int64_t /*choice*/) const { return false; }

  const std::string& id() const { return head_.id; }

  // A chunk of a stream. Between begin and end the caller writes the fields of the choice to piece(), without a comma
  // in front or behind.
  void begin_chunk(std::int64_t choice);
  void end_chunk();
  // Tells the timings so far where they were asked for.
  void end_text_chunk();
  void end_progress_chunk(const PromptProgress& progress);

 private:
  void write_end(std::int64_t choice) override;
  std::string write_whole() override;
  std::string_view finish_reason(std::int64_t choice) const;
  void write_timings();
  // Behind the last choice: timings, and the prompt where it is told.
  void write_totals();

  AnswerHead head_;
  Forms forms_;
  bool tells_usage_;
  std::string chunk_begin_;  // up to the index of a choice
  std::string chunk_end_;    // from behind a choice without an end, up to the chunk's end
};

}  // namespace ingot::protocol
