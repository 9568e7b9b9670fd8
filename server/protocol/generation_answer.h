// GenerationAnswer: from what a generation tells its listener to what the client is sent: pieces of a stream, or one
// JSON text. ChatAnswer and CompletionAnswer say it in their forms.
//
//   answer.on_token(choice, chosen)   a piece to send; empty where nothing is to be sent (yet)
//   answer.on_end(choice, ending)     the same
//   answer.is_complete()              the stream has ended, or whole() and error() may be asked
//
// Ends: the model's own and a stop are "stop", the limit of tokens is "length". A deadline is none of OpenAI's reasons,
// and half an answer under a wrong name would be taken for a whole one: it is an error (504), and so are cancellations
// (503) and failures (500, or 503 where memory is short). In a stream an error is an event, also where it comes before
// the first token, and the end: there is no [DONE] behind it. The error of one choice is the error of all; who else is
// under way is the caller's to cancel.
//
// Choices are counted over all prompts: those of prompt p are [p * n, p * n + n). No thread of its own and no lock:
// whoever calls takes turns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/protocol/api_error.h"
#include "server/protocol/generation_request.h"
#include "server/protocol/generation_usage.h"
#include "server/protocol/json_text.h"

namespace ingot::protocol {

struct AnswerHead {
  std::string id = {};
  std::string model = {};
  std::string fingerprint = {};  // of all that an answer follows from beside the request
  std::int64_t created = 0;      // seconds since 1970
};

class GenerationAnswer {
 public:
  virtual ~GenerationAnswer() = default;

  // What each returns is good until the next call. Nothing comes of what is told after the end.
  std::string_view on_prompt(std::int64_t choice, std::span<const ChosenToken> prompt);
  std::string_view on_token(std::int64_t choice, const ChosenToken& chosen);
  std::string_view on_end(std::int64_t choice, const GenerationEnding& ending);
  // Ends it for a reason that no generation knows of.
  std::string_view on_error(ApiError error);

  bool is_complete() const { return error_.has_value() || ended_ == std::ssize(endings_); }
  const std::optional<ApiError>& error() const { return error_; }
  // An answer that is not streamed. Once: what was kept for it is let go of. Precondition: complete, without an error.
  std::string whole();

  std::int64_t choice_count() const { return std::ssize(endings_); }

 protected:
  struct Forms {
    std::string_view whole;  // OpenAI's names of the objects
    std::string_view chunk;
  };
  GenerationAnswer(AnswerHead head, const GenerationRequest& request, std::int64_t prompts, Forms forms);

  virtual void take_prompt(std::int64_t, std::span<const ChosenToken>) {}
  virtual void take_token(std::int64_t choice, const ChosenToken& chosen) = 0;
  // What is still to come of the choice but its last chunk.
  virtual void take_rest(std::int64_t choice, const GenerationEnding& ending) = 0;
  // Between the index and the finish reason, for the whole answer, which is then all that holds it.
  virtual void add_choice(JsonWriter& writer, std::int64_t choice) = 0;
  virtual std::string_view empty_delta() const = 0;

  bool is_streamed() const { return is_streamed_; }
  bool tells_probabilities() const { return tells_probabilities_; }
  std::int64_t choices_of_a_prompt() const { return choices_of_a_prompt_; }

  // A chunk of a stream. Between the two the caller writes the fields of the choice to piece(), without a comma in
  // front or behind.
  std::string& piece() { return piece_; }
  void begin_chunk(std::int64_t choice);
  void end_chunk();

 private:
  void write_last_chunks(std::int64_t choice);

  AnswerHead head_;
  Forms forms_;
  std::int64_t choices_of_a_prompt_;
  bool is_streamed_, tells_usage_, tells_probabilities_;

  std::string chunk_begin_;  // up to the index of a choice
  std::string chunk_end_;    // from behind a choice without an end
  std::string piece_;
  std::vector<std::optional<EndedChoice>> endings_;
  std::int64_t ended_ = 0;
  std::optional<ApiError> error_;
};

}  // namespace ingot::protocol
