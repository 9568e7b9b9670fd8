#include "server/protocol/generation_answer.h"

namespace ingot::protocol {

namespace {

constexpr std::string_view end_of_event = "}\n\n";
constexpr std::string_view done = "data: [DONE]\n\n";

std::string_view finish_reason(GenerationEnd end) { return end == GenerationEnd::token_limit ? "length" : "stop"; }

// Nothing where it ended as it should.
std::optional<ApiError> error_of_ending(const GenerationEnding& ending) {
  switch (ending.end) {
    case GenerationEnd::model:
    case GenerationEnd::stop:
    case GenerationEnd::token_limit: return std::nullopt;
    case GenerationEnd::deadline: return deadline_passed();
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

void add_head(JsonWriter& writer, const AnswerHead& head, std::string_view form) {
  writer.key("id").text(head.id).key("object").text(form).key("created").number(head.created);
  writer.key("model").text(head.model).key("system_fingerprint").text(head.fingerprint);
}

}  // namespace

GenerationAnswer::GenerationAnswer(AnswerHead head, const GenerationRequest& request, std::int64_t prompts, Forms forms)
    : head_(std::move(head)),
      forms_(forms),
      choices_of_a_prompt_(request.choices),
      is_streamed_(request.is_streamed),
      tells_usage_(request.tells_usage),
      tells_probabilities_(request.tells_probabilities),
      endings_(static_cast<std::size_t>(prompts * request.choices)) {
  if (!is_streamed_) return;
  chunk_begin_ = "data: ";
  JsonWriter writer(chunk_begin_);
  writer.open_object();
  add_head(writer, head_, forms_.chunk);
  writer.key("choices").open_list().open_object().key("index");
  chunk_end_ = std::string(",\"finish_reason\":null}]") + (tells_usage_ ? ",\"usage\":null" : "");
  chunk_end_ += end_of_event;
}

void GenerationAnswer::begin_chunk(std::int64_t choice) {
  piece_ += chunk_begin_;
  append_integer(piece_, choice);
  piece_ += ',';
}

void GenerationAnswer::end_chunk() { piece_ += chunk_end_; }

std::string_view GenerationAnswer::on_prompt(std::int64_t choice, std::span<const ChosenToken> prompt) {
  piece_.clear();
  if (!is_complete()) take_prompt(choice, prompt);
  return piece_;
}

std::string_view GenerationAnswer::on_token(std::int64_t choice, const ChosenToken& chosen) {
  piece_.clear();
  if (!is_complete()) take_token(choice, chosen);
  return piece_;
}

std::string_view GenerationAnswer::on_end(std::int64_t choice, const GenerationEnding& ending) {
  if (const std::optional<ApiError> error = error_of_ending(ending)) return on_error(*error);
  piece_.clear();
  std::optional<EndedChoice>& ended = endings_[static_cast<std::size_t>(choice)];
  if (is_complete() || ended) return piece_;
  take_rest(choice, ending);
  ended = {.finish_reason = finish_reason(ending.end), .counts = ending.counts, .times = ending.times};
  ++ended_;
  if (is_streamed_) write_last_chunks(choice);
  return piece_;
}

std::string_view GenerationAnswer::on_error(ApiError error) {
  piece_.clear();
  if (is_complete()) return piece_;
  error_ = std::move(error);
  if (is_streamed_) piece_ = error_->event();
  return piece_;
}

// The choice's end, and behind that of the last choice what is told of all.
void GenerationAnswer::write_last_chunks(std::int64_t choice) {
  const bool is_last = is_complete();
  begin_chunk(choice);
  piece_ += empty_delta();
  piece_ += ",\"logprobs\":null,\"finish_reason\":\"";
  piece_ += endings_[static_cast<std::size_t>(choice)]->finish_reason;
  piece_ += "\"}]";
  const auto add_timings_behind = [&] {
    piece_ += ",\"timings\":";
    JsonWriter writer(piece_);
    add_timings(writer, endings_, choices_of_a_prompt_);
  };
  if (tells_usage_) piece_ += ",\"usage\":null";
  if (is_last && !tells_usage_) add_timings_behind();
  piece_ += end_of_event;
  if (!is_last) return;
  if (tells_usage_) {
    piece_ += "data: ";
    JsonWriter writer(piece_);
    writer.open_object();
    add_head(writer, head_, forms_.chunk);
    writer.key("choices").open_list().close_list().key("usage");
    add_usage(writer, endings_, choices_of_a_prompt_);
    add_timings_behind();
    piece_ += end_of_event;
  }
  piece_ += done;
}

std::string GenerationAnswer::whole() {
  if (!is_complete() || error_) __builtin_trap();
  std::string json;
  JsonWriter writer(json);
  writer.open_object();
  add_head(writer, head_, forms_.whole);
  writer.key("choices").open_list();
  for (std::size_t index = 0; index < endings_.size(); ++index) {
    writer.open_object().key("index").number(index);
    add_choice(writer, static_cast<std::int64_t>(index));
    writer.key("finish_reason").text(endings_[index]->finish_reason).close_object();
  }
  writer.close_list().key("usage");
  add_usage(writer, endings_, choices_of_a_prompt_);
  writer.key("timings");
  add_timings(writer, endings_, choices_of_a_prompt_);
  writer.close_object();
  return json;
}

}  // namespace ingot::protocol
