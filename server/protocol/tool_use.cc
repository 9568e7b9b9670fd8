#include "server/protocol/tool_use.h"

#include <algorithm>
#include <array>

#include "server/protocol/text_parts.h"

namespace ingot::protocol {

namespace {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

constexpr std::size_t most_tools = 512;
constexpr std::size_t most_name_bytes = 128;

// Models write names between marks of all kinds: none of these is one.
bool is_name(std::string_view name) {
  constexpr std::string_view signs = "_-.:/";
  const auto fits = [&](char letter) {
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    return is_letter || (letter >= '0' && letter <= '9') || signs.find(letter) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= most_name_bytes && std::ranges::all_of(name, fits);
}

void read_name(FieldReader& reader, std::string& name) {
  constexpr std::string_view expected = "a name of up to 128 letters, digits and _ - . : /";
  reader.require("name", expected);
  reader.read("name", name);
  if (!reader.has_failed() && !is_name(name)) reader.fail("name", expected, Value::text(name));
}

// What all forms have, under their own name of the schema.
void read_function(FieldReader& reader, std::string_view schema, Tool& tool) {
  read_name(reader, tool.name);
  reader.read("description", tool.description);
  const Value* parameters = reader.value(schema, Kind::dictionary);
  tool.parameters = parameters != nullptr ? *parameters : calls::no_parameters();
  reader.read("strict", tool.is_strict);
}

Outcome<Tool> read_chat_tool(FieldReader& reader) {
  Tool tool;
  std::string type;
  reader.require("type", "the text 'function'");
  reader.read("type", type);
  TRY(reader.outcome());
  if (type != "function") return not_served_yet(reader.place_of("type"), "a tool of type '" + type + "'");
  reader.require("function", "an object");
  const Value* function = reader.value("function", Kind::dictionary);
  TRY(reader.finish());
  FieldReader inner(function->as_dictionary(), reader.place_of("function"));
  read_function(inner, "parameters", tool);
  TRY(inner.finish());
  return tool;
}

Outcome<Tool> read_response_tool(FieldReader& reader) {
  Tool tool;
  std::string type;
  reader.require("type", "the text 'function'");
  reader.read("type", type);
  TRY(reader.outcome());
  if (type != "function") return not_served_yet(reader.place_of("type"), "a tool of type '" + type + "'");
  read_function(reader, "parameters", tool);
  for (const std::string_view name : {"output_schema", "defer_loading", "allowed_callers"}) reader.refused(name, name);
  TRY(reader.finish());
  return tool;
}

Outcome<Tool> read_message_tool(FieldReader& reader) {
  Tool tool;
  std::string type = "custom";
  reader.read("type", type);
  TRY(reader.outcome());
  if (type != "custom") return not_served_yet(reader.place_of("type"), "a tool of type '" + type + "'");
  reader.require("input_schema", "an object");
  read_function(reader, "input_schema", tool);
  reader.harmless("cache_control", Kind::dictionary);
  reader.harmless("eager_input_streaming", Kind::boolean);  // input comes as it is generated anyway
  for (const std::string_view name : {"allowed_callers", "defer_loading", "input_examples"}) reader.refused(name, name);
  TRY(reader.finish());
  return tool;
}

void read_each_tool(FieldReader& reader, Outcome<Tool> (*read_tool)(FieldReader&), ToolUse& use) {
  const Value* tools = reader.value("tools", Kind::sequence);
  if (tools == nullptr) return;
  const std::vector<Value>& items = tools->items();
  if (items.size() > most_tools) return reader.fail(too_many("tools", most_tools, "tools", items.size()));
  for (std::size_t index = 0; index < items.size() && !reader.has_failed(); ++index) {
    const std::string place = item_place("tools", index);
    Outcome<FieldReader> fields = object_reader(items[index], place);
    if (!fields.ok()) return reader.fail(fields.error());
    Outcome<Tool> tool = read_tool(fields.value());
    if (!tool.ok()) return reader.fail(tool.error());
    const std::string& name = tool.value().name;
    if (std::ranges::find(use.tools, name, &Tool::name) != use.tools.end()) {
      std::string message = place;
      message.append(": expected names that differ, found '").append(name).append("' twice");
      return reader.fail(wrong_field(place, std::move(message)));
    }
    use.tools.push_back(std::move(tool).value());
  }
}

// What was chosen must be there, and what is chosen from.
void check_choice(FieldReader& reader, const ToolUse& use) {
  if (reader.has_failed()) return;
  const bool must_call = use.choice == ToolChoice::required || use.choice == ToolChoice::named;
  if (must_call && use.tools.empty()) {
    return reader.fail(wrong_field("tool_choice", "tool_choice: expected tools to choose from, found none"));
  }
  if (use.choice == ToolChoice::named && std::ranges::find(use.tools, use.name, &Tool::name) == use.tools.end()) {
    reader.fail(wrong_field("tool_choice", "tool_choice: expected one of the tools, found '" + use.name + "'"));
  }
}

// A model that may call nothing is told of nothing: it would call, and its call would be words.
void show_tools(const ToolUse& use, chat::ChatRequest& chat) {
  if (!use.is_on()) return;
  chat.tools = calls::tools_value(use.tools);
}

// As they were sent, to the letter: templates print them. Those that lack what some templates take for granted are
// completed.
Value shown_chat_tools(const std::vector<Value>& sent, const std::vector<Tool>& tools) {
  std::vector<Value> shown = calls::tools_value(tools).items();
  for (std::size_t index = 0; index < sent.size(); ++index) {
    const Dictionary& function = sent[index].as_dictionary().find("function")->as_dictionary();
    const Value* description = function.find("description");
    const Value* parameters = function.find("parameters");
    const bool is_complete =
        description != nullptr && description->is_text() && parameters != nullptr && parameters->is(Kind::dictionary);
    if (is_complete) shown[index] = sent[index];
  }
  return Value::list(std::move(shown));
}

// "none", "auto" and "required", which chats and Responses share. False: it is none of them.
bool read_choice_word(const Value& choice, ToolUse& use) {
  static constexpr std::array<std::pair<std::string_view, ToolChoice>, 3> words = {
      {{"none", ToolChoice::none}, {"auto", ToolChoice::automatic}, {"required", ToolChoice::required}}};
  for (const auto& [word, meant] : words) {
    if (!is_text_of(choice, word)) continue;
    use.choice = meant;
    return true;
  }
  return false;
}

// An object with a type, of which only one is served.
Outcome<void> read_named_choice(const Value& choice, bool is_nested, ToolUse& use) {
  if (!choice.is(Kind::dictionary)) {
    return wrong_field("tool_choice",
                       "tool_choice: expected none, auto, required or an object, found " + described(choice));
  }
  FieldReader reader(choice.as_dictionary(), "tool_choice");
  std::string type;
  reader.require("type", "the text 'function'");
  reader.read("type", type);
  TRY(reader.outcome());
  if (type != "function") return not_served_yet("tool_choice", "tool_choice of type '" + type + "'");
  use.choice = ToolChoice::named;
  if (!is_nested) {
    read_name(reader, use.name);
    return reader.finish();
  }
  reader.require("function", "an object");
  const Value* function = reader.value("function", Kind::dictionary);
  TRY(reader.finish());
  FieldReader inner(function->as_dictionary(), "tool_choice.function");
  read_name(inner, use.name);
  return inner.finish();
}

// In OpenAI's two forms.
void read_openai_choice(FieldReader& reader, bool is_nested, ToolUse& use) {
  reader.read("parallel_tool_calls", use.is_parallel);
  const Value* choice = reader.value("tool_choice");
  if (choice == nullptr || read_choice_word(*choice, use)) return;
  if (const Outcome<void> read = read_named_choice(*choice, is_nested, use); !read.ok()) reader.fail(read.error());
}

Outcome<void> read_message_choice(const Value& given, ToolUse& use) {
  static constexpr std::array<std::string_view, 4> types = {"auto", "any", "tool", "none"};
  FieldReader reader(given.as_dictionary(), "tool_choice");
  reader.require("type", listed(types));
  const Value* type = reader.value("type");
  if (type != nullptr && !is_one_of(types, *type)) reader.fail("type", listed(types), *type);
  TRY(reader.outcome());
  use.choice = is_text_of(*type, "auto")   ? ToolChoice::automatic
               : is_text_of(*type, "any")  ? ToolChoice::required
               : is_text_of(*type, "tool") ? ToolChoice::named
                                           : ToolChoice::none;
  if (use.choice == ToolChoice::named) read_name(reader, use.name);
  bool is_single = false;
  reader.read("disable_parallel_tool_use", is_single);
  use.is_parallel = !is_single;
  return reader.finish();
}

}  // namespace

void read_chat_tools(FieldReader& reader, ToolUse& use, chat::ChatRequest& chat) {
  read_each_tool(reader, read_chat_tool, use);
  read_openai_choice(reader, true, use);
  check_choice(reader, use);
  const Value* tools = reader.value("tools");
  if (!reader.has_failed() && tools != nullptr && use.is_on()) {
    chat.tools = shown_chat_tools(tools->items(), use.tools);
  }
}

void read_response_tools(FieldReader& reader, ToolUse& use, chat::ChatRequest& chat) {
  read_each_tool(reader, read_response_tool, use);
  read_openai_choice(reader, false, use);
  check_choice(reader, use);
  show_tools(use, chat);
}

void read_message_tools(FieldReader& reader, ToolUse& use, chat::ChatRequest& chat) {
  read_each_tool(reader, read_message_tool, use);
  if (const Value* choice = reader.value("tool_choice", Kind::dictionary)) {
    if (const Outcome<void> read = read_message_choice(*choice, use); !read.ok()) reader.fail(read.error());
  }
  check_choice(reader, use);
  show_tools(use, chat);
}

}  // namespace ingot::protocol
