// Whatever the template, parsing and rendering it end with a text or an error, within the limits asked for.
#include <string>

#include "model/chat/chat_context.h"
#include "model/chat/chat_template.h"
#include "model/chat/value_json.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto chat = chat::ChatTemplate::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!chat.ok()) return 0;
  chat::ChatRequest request;
  request.messages = {chat::make_message("system", "Sys"), chat::make_message("user", "h\xC3\xA9 <b> \xFF"),
                      chat::make_message("assistant", " a ")};
  auto tools = chat::value_from_json(R"([{"type": "function", "function": {"name": "f", "p": [1, 2.5, true, null]}}])");
  if (tools.ok()) request.tools = std::move(tools).value();
  request.now = chat::LocalTime{2024, 7, 26, 12, 0, 0};
  const chat::Limits limits = {.steps = 50'000, .bytes = 4u << 20, .output_bytes = 1u << 20};
  const auto text = chat.value().render(chat::make_context(std::move(request)), limits);
  if (text.ok() && text.value().size() > limits.output_bytes) __builtin_trap();
  return 0;
}
