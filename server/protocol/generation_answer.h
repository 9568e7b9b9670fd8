// GenerationAnswer: from what a generation tells its listener to what the client is sent: pieces of a stream, or one
// JSON text. OpenAiAnswer and LlamaAnswer say it in their forms.
//
//   answer.on_token(choice, chosen)   a piece to send; empty where nothing is to be sent (yet)
//   answer.on_end(choice, ending)     the same
//   answer.is_complete()              the stream has ended, or whole() and error() may be asked
//
// A deadline is no reason to end that clients know, and half an answer under a wrong name would be taken for a whole
// one: it is an error (504), and so are cancellations (503) and failures (500, or 503 where memory is short). In a
// stream an error is an event, also where it comes before the first token, and the end: nothing is behind it. The error
// of one choice is the error of all; who else is under way is the caller's to cancel.
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

class GenerationAnswer {
 public:
  virtual ~GenerationAnswer() = default;

  // What each returns is good until the next call. Nothing comes of what is told after the end.
  std::string_view on_prompt(std::int64_t choice, std::span<const ChosenToken> prompt);
  std::string_view on_progress(std::int64_t choice, const PromptProgress& progress);
  std::string_view on_token(std::int64_t choice, const ChosenToken& chosen);
  std::string_view on_end(std::int64_t choice, const GenerationEnding& ending);
  // Ends it for a reason that no generation knows of.
  std::string_view on_error(ApiError error);

  bool is_complete() const { return error_.has_value() || ended_ == choice_count(); }
  const std::optional<ApiError>& error() const { return error_; }
  // An answer that is not streamed. Once: what was kept for it is let go of. Precondition: complete, without an error.
  std::string whole();

  std::int64_t choice_count() const { return std::ssize(figures_); }

 protected:
  GenerationAnswer(const GenerationRequest& request, std::int64_t prompts);

  virtual void take_prompt(std::int64_t, std::span<const ChosenToken>) {}
  // Of a stream that tells it.
  virtual void write_progress(std::int64_t /*choice*/, const PromptProgress& /*progress*/) {}
  virtual void take_token(std::int64_t choice, const ChosenToken& chosen) = 0;
  // What is still to come of the choice but its end.
  virtual void take_rest(std::int64_t choice, const GenerationEnding& ending) = 0;
  // Of a stream: why the choice ended; and what is told of all, where it is the last.
  virtual void write_end(std::int64_t choice) = 0;
  // Of a stream: the last thing in it. As an event in OpenAI's form unless another says it otherwise.
  virtual void write_error(const ApiError& error) { piece_ = error.event(); }
  // Is then all that holds it.
  virtual std::string write_whole() = 0;

  bool is_streamed() const { return is_streamed_; }
  bool tells_probabilities() const { return tells_probabilities_; }
  bool tells_timings() const { return tells_timings_; }
  std::int64_t choices_of_a_prompt() const { return choices_of_a_prompt_; }
  std::span<const ChoiceFigures> figures() const { return figures_; }
  const ChoiceFigures& figures_of(std::int64_t choice) const { return figures_[static_cast<std::size_t>(choice)]; }
  // What is sent next.
  std::string& piece() { return piece_; }

 private:
  std::int64_t choices_of_a_prompt_;
  bool is_streamed_, tells_probabilities_, tells_timings_;

  std::string piece_;
  std::vector<ChoiceFigures> figures_;
  std::int64_t ended_ = 0;
  std::optional<ApiError> error_;
};

}  // namespace ingot::protocol
