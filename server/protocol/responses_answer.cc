#include "server/protocol/responses_answer.h"

#include "server/protocol/value_text.h"

namespace ingot::protocol {

namespace {

constexpr std::string_view status_running = "in_progress";
constexpr std::string_view status_completed = "completed";
constexpr std::string_view status_incomplete = "incomplete";

void add_or(JsonWriter& writer, std::string_view name, const chat::Value& value, std::string_view otherwise) {
  writer.key(name);
  if (value.is_none()) {
    writer.raw(otherwise);
  } else {
    add_value(writer, value);
  }
}

std::string echo_of(const ResponsesRequest& request) {
  const GenerationRequest& generation = request.asked.generation;
  const ResponseEcho& echo = request.echo;
  std::string json;
  JsonWriter writer(json);
  add_or(writer, "instructions", echo.instructions, "null");
  writer.key("max_output_tokens");
  if (generation.most_tokens) {
    writer.number(*generation.most_tokens);
  } else {
    writer.null();
  }
  add_or(writer, "metadata", echo.metadata, "{}");
  writer.key("background").boolean(false).key("store").boolean(false).key("previous_response_id").null();
  writer.key("parallel_tool_calls").boolean(request.asked.tools.is_parallel);
  add_or(writer, "tools", echo.tools, "[]");
  add_or(writer, "tool_choice", echo.tool_choice, "\"auto\"");
  writer.key("temperature").number(generation.text.sampling.temperature);
  writer.key("top_p").number(generation.text.sampling.top_p);
  writer.key("text").open_object();
  add_or(writer, "format", echo.format, R"({"type":"text"})");
  writer.close_object().key("reasoning").open_object();
  add_or(writer, "effort", echo.effort, "null");
  writer.key("summary").null().close_object();
  writer.key("truncation").text("disabled");
  return json;
}

// The one part that an item of thoughts or words has.
void add_part(JsonWriter& writer, ItemKind kind, std::string_view text) {
  const bool is_words = kind == ItemKind::message;
  writer.open_object().key("type").text(is_words ? "output_text" : "reasoning_text").key("text").text(text);
  if (is_words) {
    writer.key("annotations").open_list().close_list().key("logprobs").open_list().close_list();
  }
  writer.close_object();
}

}  // namespace

ResponsesAnswer::ResponsesAnswer(AnswerHead head, const ResponsesRequest& request, const AnswerReading& reading)
    : ItemAnswer(std::move(head), request.asked, reading), echo_(echo_of(request)) {}

template <class AddFields>
void ResponsesAnswer::write_numbered(std::string_view type, const AddFields& add_fields) {
  write_event(type, [&](JsonWriter& writer) {
    writer.key("sequence_number").number(next_number_++);
    add_fields(writer);
  });
}

// Of the response's own, which begins with resp_.
std::string ResponsesAnswer::item_id(std::size_t index) const {
  constexpr std::string_view kinds[] = {"rs_", "msg_", "fc_"};
  const std::string_view own = head().id;
  return std::string(kinds[static_cast<std::size_t>(items()[index].kind)])
      .append(own.substr(own.find('_') + 1))
      .append("_")
      .append(std::to_string(index));
}

void ResponsesAnswer::add_place(JsonWriter& writer, std::size_t index) const {
  writer.key("item_id").text(item_id(index)).key("output_index").number(index);
  if (items()[index].kind != ItemKind::call) writer.key("content_index").number(0);
}

// One that has just begun has no part yet.
void ResponsesAnswer::add_item(JsonWriter& writer, std::size_t index, std::string_view status) const {
  const AnswerItem& item = items()[index];
  const bool has_begun = status != status_running;
  writer.open_object().key("id").text(item_id(index));
  if (item.kind == ItemKind::call) {
    writer.key("type").text("function_call").key("call_id").text(item.id).key("name").text(item.name);
    writer.key("arguments").text(item.text);
  } else {
    const bool is_words = item.kind == ItemKind::message;
    writer.key("type").text(is_words ? "message" : "reasoning");
    if (is_words) {
      writer.key("role").text("assistant");
    } else {
      writer.key("summary").open_list().close_list();
    }
    writer.key("content").open_list();
    if (has_begun) add_part(writer, item.kind, item.text);
    writer.close_list();
  }
  writer.key("status").text(status).close_object();
}

void ResponsesAnswer::add_response_usage(JsonWriter& writer) const {
  const GenerationCounts& counts = figures_of_all().counts;
  writer.open_object().key("input_tokens").number(counts.prompt);
  writer.key("input_tokens_details").open_object().key("cached_tokens").number(counts.cached);
  writer.key("cache_write_tokens").number(0).close_object();
  writer.key("output_tokens").number(counts.generated);
  writer.key("output_tokens_details").open_object().key("reasoning_tokens").number(reasoning_tokens()).close_object();
  writer.key("total_tokens").number(counts.prompt + counts.generated).close_object();
}

void ResponsesAnswer::add_response(JsonWriter& writer, std::string_view status, const ApiError* error) const {
  const bool is_over = status == status_completed || status == status_incomplete;
  writer.open_object().key("id").text(head().id).key("object").text("response");
  writer.key("created_at").number(head().created).key("status").text(status).key("model").text(head().model);
  writer.key("error");
  if (error != nullptr) {
    writer.open_object().key("code").text("server_error").key("message").text(error->message).close_object();
  } else {
    writer.null();
  }
  writer.key("incomplete_details");
  if (status == status_incomplete && is_at_limit()) {  // there is no name for other reasons
    writer.open_object().key("reason").text("max_output_tokens").close_object();
  } else {
    writer.null();
  }
  writer.raw(echo_).key("output").open_list();
  for (std::size_t index = 0; index < items().size(); ++index) {
    add_item(writer, index, item_status(index, error != nullptr || is_at_limit()));
  }
  writer.close_list().key("usage");
  if (is_over) {
    add_response_usage(writer);
  } else {
    writer.null();
  }
  writer.close_object();
}

void ResponsesAnswer::add_timings_where_wanted(JsonWriter& writer) const {
  if (tells_timings()) add_timings(writer.key("timings"), figures(), choices_of_a_prompt());
}

bool ResponsesAnswer::is_at_limit() const { return figures_of_all().end == GenerationEnd::token_limit; }

std::string_view ResponsesAnswer::item_status(std::size_t index, bool is_cut_off) const {
  const bool is_last = index + 1 == items().size();
  return items()[index].is_broken() || (is_cut_off && is_last) ? status_incomplete : status_completed;
}

std::string_view ResponsesAnswer::last_status() const {
  return is_at_limit() || has_broken_calls() ? status_incomplete : status_completed;
}

void ResponsesAnswer::write_begin() {
  for (const std::string_view type : {"response.created", "response.in_progress"}) {
    write_numbered(type, [&](JsonWriter& writer) { add_response(writer.key("response"), status_running); });
  }
}

void ResponsesAnswer::write_progress(std::int64_t, const PromptProgress& progress) {
  begin();
  write_numbered("response.in_progress", [&](JsonWriter& writer) {
    add_response(writer.key("response"), status_running);
    add_progress(writer, progress, tells_timings());
  });
}

void ResponsesAnswer::write_opened(std::size_t index) {
  write_numbered("response.output_item.added", [&](JsonWriter& writer) {
    add_item(writer.key("output_index").number(index).key("item"), index, status_running);
  });
  const ItemKind kind = items()[index].kind;
  if (kind == ItemKind::call) return;
  write_numbered("response.content_part.added", [&](JsonWriter& writer) {
    add_place(writer, index);
    add_part(writer.key("part"), kind, "");
  });
}

void ResponsesAnswer::write_delta(std::size_t index, std::string_view text) {
  constexpr std::string_view types[] = {"response.reasoning_text.delta", "response.output_text.delta",
                                        "response.function_call_arguments.delta"};
  const ItemKind kind = items()[index].kind;
  write_numbered(types[static_cast<std::size_t>(kind)], [&](JsonWriter& writer) {
    add_place(writer, index);
    writer.key("delta").text(text);
    if (kind == ItemKind::message) writer.key("logprobs").open_list().close_list();
    add_timings_where_wanted(writer);
  });
}

void ResponsesAnswer::write_closed(std::size_t index) {
  constexpr std::string_view types[] = {"response.reasoning_text.done", "response.output_text.done",
                                        "response.function_call_arguments.done"};
  const AnswerItem& item = items()[index];
  write_numbered(types[static_cast<std::size_t>(item.kind)], [&](JsonWriter& writer) {
    add_place(writer, index);
    if (item.kind == ItemKind::call) writer.key("name").text(item.name);
    writer.key(item.kind == ItemKind::call ? "arguments" : "text").text(item.text);
    if (item.kind == ItemKind::message) writer.key("logprobs").open_list().close_list();
  });
  if (item.kind != ItemKind::call) {
    write_numbered("response.content_part.done", [&](JsonWriter& writer) {
      add_place(writer, index);
      add_part(writer.key("part"), item.kind, item.text);
    });
  }
  write_numbered("response.output_item.done", [&](JsonWriter& writer) {
    add_item(writer.key("output_index").number(index).key("item"), index, item_status(index, is_at_limit()));
  });
}

void ResponsesAnswer::write_end(std::int64_t) {
  const std::string_view status = last_status();
  write_numbered("response." + std::string(status), [&](JsonWriter& writer) {
    add_response(writer.key("response"), status);
    add_timings_where_wanted(writer);
  });
}

void ResponsesAnswer::write_error(const ApiError& error) {
  begin();
  write_numbered("response.failed",
                 [&](JsonWriter& writer) { add_response(writer.key("response"), "failed", &error); });
}

std::string ResponsesAnswer::write_whole() {
  std::string json;
  JsonWriter writer(json);
  add_response(writer, last_status());
  return json;
}

}  // namespace ingot::protocol
