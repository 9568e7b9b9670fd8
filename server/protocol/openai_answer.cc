#include "server/protocol/openai_answer.h"

namespace ingot::protocol {

namespace {

constexpr std::string_view end_of_event = "}\n\n";
constexpr std::string_view done = "data: [DONE]\n\n";

void add_answer_head(JsonWriter& writer, const AnswerHead& head, std::string_view form) {
  writer.key("id").text(head.id).key("object").text(form).key("created").number(head.created);
  writer.key("model").text(head.model).key("system_fingerprint").text(head.fingerprint);
}

void add_prompt(JsonWriter& writer, std::string_view prompt) {
  writer.key("__verbose").open_object().key("prompt").text(prompt).close_object();
}

}  // namespace

OpenAiAnswer::OpenAiAnswer(AnswerHead head, const GenerationRequest& request, std::int64_t prompts, Forms forms)
    : GenerationAnswer(request, prompts), head_(std::move(head)), forms_(forms), tells_usage_(request.tells_usage) {
  if (!is_streamed()) return;
  chunk_begin_ = "data: ";
  JsonWriter writer(chunk_begin_);
  writer.open_object();
  add_answer_head(writer, head_, forms_.chunk);
  writer.key("choices").open_list().open_object().key("index");
  chunk_end_ = std::string(",\"finish_reason\":null}]") + (tells_usage_ ? ",\"usage\":null" : "");
}

std::string_view OpenAiAnswer::finish_reason(std::int64_t choice) const {
  if (figures_of(choice).end == GenerationEnd::token_limit) return "length";
  return has_whole_calls(choice) ? "tool_calls" : "stop";
}

void OpenAiAnswer::begin_chunk(std::int64_t choice) {
  piece() += chunk_begin_;
  append_integer(piece(), choice);
  piece() += ',';
}

void OpenAiAnswer::end_chunk() {
  piece() += chunk_end_;
  piece() += end_of_event;
}

void OpenAiAnswer::end_text_chunk() {
  piece() += chunk_end_;
  if (tells_timings()) write_timings();
  piece() += end_of_event;
}

void OpenAiAnswer::end_progress_chunk(const PromptProgress& progress) {
  piece() += chunk_end_;
  piece() += ',';
  JsonWriter writer(piece());
  add_progress(writer, progress, tells_timings());
  piece() += end_of_event;
}

void OpenAiAnswer::write_timings() {
  piece() += ",\"timings\":";
  JsonWriter writer(piece());
  add_timings(writer, figures(), choices_of_a_prompt());
}

void OpenAiAnswer::write_totals() {
  write_timings();
  if (!head_.prompt) return;
  piece() += ',';
  JsonWriter writer(piece());
  add_prompt(writer, *head_.prompt);
}

// The choice's end, and behind that of the last choice what is told of all.
void OpenAiAnswer::write_end(std::int64_t choice) {
  const bool is_last = is_complete();
  begin_chunk(choice);
  piece() += empty_delta();
  piece() += ",\"logprobs\":null,\"finish_reason\":\"";
  piece() += finish_reason(choice);
  piece() += "\"}]";
  if (tells_usage_) piece() += ",\"usage\":null";
  if (is_last && !tells_usage_) write_totals();
  piece() += end_of_event;
  if (!is_last) return;
  if (tells_usage_) {
    piece() += "data: ";
    JsonWriter writer(piece());
    writer.open_object();
    add_answer_head(writer, head_, forms_.chunk);
    writer.key("choices").open_list().close_list().key("usage");
    add_usage(writer, figures(), choices_of_a_prompt());
    write_totals();
    piece() += end_of_event;
  }
  piece() += done;
}

std::string OpenAiAnswer::write_whole() {
  std::string json;
  JsonWriter writer(json);
  writer.open_object();
  add_answer_head(writer, head_, forms_.whole);
  writer.key("choices").open_list();
  for (std::int64_t choice = 0; choice < choice_count(); ++choice) {
    const std::string_view reason = finish_reason(choice);  // which add_choice lets go of
    writer.open_object().key("index").number(choice);
    add_choice(writer, choice);
    writer.key("finish_reason").text(reason).close_object();
  }
  writer.close_list().key("usage");
  add_usage(writer, figures(), choices_of_a_prompt());
  writer.key("timings");
  add_timings(writer, figures(), choices_of_a_prompt());
  if (head_.prompt) add_prompt(writer, *head_.prompt);
  writer.close_object();
  return json;
}

}  // namespace ingot::protocol
