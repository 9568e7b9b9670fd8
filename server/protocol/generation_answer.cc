#include "server/protocol/generation_answer.h"

namespace ingot::protocol {

namespace {

// Nothing where it ended as it should.
std::optional<ApiError> error_of_ending(const GenerationEnding& ending) {
  switch (ending.end) {
    case GenerationEnd::model:
    case GenerationEnd::stop:
    case GenerationEnd::token_limit: return std::nullopt;
    case GenerationEnd::deadline:
      return deadline_passed(ending.times.waiting + ending.times.prompt + ending.times.generation);
    case GenerationEnd::cancelled: return request_cancelled();
    case GenerationEnd::none:
    case GenerationEnd::failed: break;
  }
  std::string message = "the request could not be computed";
  if (ending.error != nullptr) message += ": " + std::string(ending.error->text());
  // Memory may be there again later. All else is this server's fault, or the model's.
  const bool is_short_of_memory = ending.error != nullptr && ending.error->code() == ErrorCode::out_of_memory;
  return is_short_of_memory ? unavailable(std::move(message), std::nullopt) : http_error(500, message);
}

}  // namespace

GenerationAnswer::GenerationAnswer(const GenerationRequest& request, std::int64_t prompts)
    : choices_of_a_prompt_(request.choices),
      is_streamed_(request.is_streamed),
      tells_probabilities_(request.tells_probabilities),
      tells_timings_(request.tells_timings),
      figures_(static_cast<std::size_t>(prompts * request.choices)) {}

std::string_view GenerationAnswer::on_prompt(std::int64_t choice, std::span<const ChosenToken> prompt) {
  piece_.clear();
  if (!is_complete()) take_prompt(choice, prompt);
  return piece_;
}

std::string_view GenerationAnswer::on_progress(std::int64_t choice, const PromptProgress& progress) {
  piece_.clear();
  if (is_complete() || !is_streamed_) return piece_;
  ChoiceFigures& figures = figures_[static_cast<std::size_t>(choice)];
  figures.counts = progress.counts;
  figures.times = progress.times;
  write_progress(choice, progress);
  return piece_;
}

std::string_view GenerationAnswer::on_token(std::int64_t choice, const ChosenToken& chosen) {
  piece_.clear();
  if (is_complete()) return piece_;
  ChoiceFigures& figures = figures_[static_cast<std::size_t>(choice)];
  figures.counts = chosen.counts;
  figures.times = chosen.times;
  take_token(choice, chosen);
  return piece_;
}

std::string_view GenerationAnswer::on_end(std::int64_t choice, const GenerationEnding& ending) {
  if (const std::optional<ApiError> error = error_of_ending(ending)) return on_error(*error);
  piece_.clear();
  ChoiceFigures& figures = figures_[static_cast<std::size_t>(choice)];
  if (is_complete() || figures.end != GenerationEnd::none) return piece_;
  figures = {.end = ending.end, .counts = ending.counts, .times = ending.times};
  take_rest(choice, ending);
  ++ended_;
  if (is_streamed_) write_end(choice);
  return piece_;
}

std::string_view GenerationAnswer::on_error(ApiError error) {
  piece_.clear();
  if (is_complete()) return piece_;
  error_ = std::move(error);
  if (is_streamed_) write_error(*error_);
  return piece_;
}

std::string GenerationAnswer::whole() {
  if (!is_complete() || error_) __builtin_trap();
  return write_whole();
}

}  // namespace ingot::protocol
