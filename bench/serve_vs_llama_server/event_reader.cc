#include "bench/serve_vs_llama_server/event_reader.h"

#include <nlohmann/json.hpp>

namespace ingot::load {
namespace {

using Json = nlohmann::json;

// The member of an object; null where there is none, or no object.
const Json& member(const Json& object, const char* name) {
  static const Json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(name);
  return found == object.end() ? nothing : *found;
}

std::int64_t count_of(const Json& value) { return value.is_number_integer() ? value.get<std::int64_t>() : 0; }

std::string message_of(const Json& error) {
  const Json& message = member(error, "message");
  if (message.is_string()) return message.get<std::string>();
  return error.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 200);
}

}  // namespace

void EventReader::take(std::string_view body, const std::function<void(std::string_view data)>& on_data) {
  for (;;) {
    const std::size_t end = body.find('\n');
    line_.append(body.substr(0, end));
    if (end == body.npos) return;
    body.remove_prefix(end + 1);
    std::string_view line = line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      if (has_data_) on_data(data_);
      data_.clear();
      has_data_ = false;
    } else if (line.starts_with("data:")) {
      line.remove_prefix(5);
      if (line.starts_with(' ')) line.remove_prefix(1);
      if (has_data_) data_.push_back('\n');
      data_.append(line);
      has_data_ = true;
    }
    line_.clear();
  }
}

Result<StreamEvent> stream_event_of(std::string_view data) {
  StreamEvent event;
  if (data == "[DONE]") {
    event.is_last = true;
    return event;
  }
  const Json document = Json::parse(data, nullptr, false);
  if (!document.is_object()) {
    return Error::of(ErrorCode::corrupt, "expected an event's data to be an object, found '", data.substr(0, 80), "'");
  }
  if (const Json& error = member(document, "error"); !error.is_null()) event.error = message_of(error);
  if (const Json& choices = member(document, "choices"); choices.is_array() && !choices.empty()) {
    const Json& text = member(choices.front(), "text");
    event.has_text = text.is_string() && !text.get_ref<const std::string&>().empty();
  }
  if (const Json& usage = member(document, "usage"); usage.is_object()) {
    event.usage = TokenUsage{.prompt = count_of(member(usage, "prompt_tokens")),
                             .cached = count_of(member(member(usage, "prompt_tokens_details"), "cached_tokens")),
                             .generated = count_of(member(usage, "completion_tokens"))};
  }
  return event;
}

std::string error_message_of(std::string_view body) {
  const Json document = Json::parse(body, nullptr, false);
  const Json& error = member(document, "error");
  return error.is_null() ? std::string(body.substr(0, 200)) : message_of(error);
}

}  // namespace ingot::load
