#include "server/protocol/messages_answer.h"

#include "server/protocol/body.h"
#include "server/protocol/error_form.h"

namespace ingot::protocol {

namespace {

constexpr std::string_view ping_event = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

// Nobody wrote an input for a call that broke off.
bool is_told(const AnswerItem& item) {
  return item.kind != ItemKind::call || (item.is_ended && read_body(item.text).ok());
}

}  // namespace

void MessagesAnswer::add_block(JsonWriter& writer, const AnswerItem& item, bool is_whole) const {
  const std::string_view text = is_whole ? std::string_view(item.text) : "";
  writer.open_object();
  switch (item.kind) {
    case ItemKind::reasoning:
      writer.key("type").text("thinking").key("thinking").text(text).key("signature").text("");
      break;
    case ItemKind::message: writer.key("type").text("text").key("text").text(text); break;
    case ItemKind::call:
      writer.key("type").text("tool_use").key("id").text(item.id).key("name").text(item.name).key("input");
      writer.raw(is_whole ? std::string_view(item.text) : "{}");
      break;
  }
  writer.close_object();
}

// Anthropic counts apart what was read from a cache.
void MessagesAnswer::add_message_usage(JsonWriter& writer) const {
  const GenerationCounts& counts = figures_of_all().counts;
  writer.key("usage").open_object().key("input_tokens").number(counts.prompt - counts.cached);
  writer.key("cache_creation_input_tokens").number(0).key("cache_read_input_tokens").number(counts.cached);
  writer.key("output_tokens").number(counts.generated).close_object();
}

void MessagesAnswer::add_end(JsonWriter& writer) const {
  const GenerationEnd end = figures_of_all().end;
  const bool is_stopped = end == GenerationEnd::stop && !stop().empty();
  writer.key("stop_reason");
  if (end == GenerationEnd::token_limit) {
    writer.text("max_tokens");
  } else if (is_stopped) {
    writer.text("stop_sequence");
  } else {
    writer.text(has_whole_calls() ? "tool_use" : "end_turn");
  }
  writer.key("stop_sequence");
  if (is_stopped) {
    writer.text(stop());
  } else {
    writer.null();
  }
}

void MessagesAnswer::write_begin() {
  write_event("message_start", [&](JsonWriter& writer) {
    writer.key("message").open_object().key("id").text(head().id).key("type").text("message");
    writer.key("role").text("assistant").key("model").text(head().model).key("content").open_list().close_list();
    writer.key("stop_reason").null().key("stop_sequence").null();
    add_message_usage(writer);
    writer.close_object();
  });
  piece() += ping_event;
}

void MessagesAnswer::write_opened(std::size_t index) {
  write_event("content_block_start", [&](JsonWriter& writer) {
    writer.key("index").number(index);
    add_block(writer.key("content_block"), items()[index], false);
  });
}

void MessagesAnswer::write_delta(std::size_t index, std::string_view text) {
  constexpr std::string_view names[][2] = {
      {"thinking_delta", "thinking"}, {"text_delta", "text"}, {"input_json_delta", "partial_json"}};
  const auto& [type, field] = names[static_cast<std::size_t>(items()[index].kind)];
  write_event("content_block_delta", [&](JsonWriter& writer) {
    writer.key("index").number(index).key("delta").open_object().key("type").text(type);
    writer.key(field).text(text).close_object();
  });
}

void MessagesAnswer::write_closed(std::size_t index) {
  if (items()[index].kind == ItemKind::reasoning) {
    write_event("content_block_delta", [&](JsonWriter& writer) {
      writer.key("index").number(index).key("delta").open_object().key("type").text("signature_delta");
      writer.key("signature").text("").close_object();
    });
  }
  write_event("content_block_stop", [&](JsonWriter& writer) { writer.key("index").number(index); });
}

void MessagesAnswer::write_end(std::int64_t) {
  write_event("message_delta", [&](JsonWriter& writer) {
    writer.key("delta").open_object();
    add_end(writer);
    writer.close_object();
    add_message_usage(writer);
  });
  write_event("message_stop", [](JsonWriter&) {});
}

void MessagesAnswer::write_error(const ApiError& error) {
  piece() = "event: error\ndata: " + error_json(error, ErrorForm::anthropic) + "\n\n";
}

std::string MessagesAnswer::write_whole() {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("id").text(head().id).key("type").text("message").key("role").text("assistant");
  writer.key("model").text(head().model).key("content").open_list();
  for (const AnswerItem& item : items()) {
    if (is_told(item)) add_block(writer, item, true);
  }
  writer.close_list();
  add_end(writer);
  add_message_usage(writer);
  writer.close_object();
  return json;
}

}  // namespace ingot::protocol
