#include "model/calls/tool.h"

#include <algorithm>

#include "model/chat/dictionary.h"
#include "model/chat/json_write.h"
#include "model/chat/runtime.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

namespace {

constexpr std::size_t longest_name = 128;

// Names stand inside of marks and of JSON texts, as they are.
bool is_name_of_tool(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::ranges::all_of(name, [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte == '-' || byte == '.';
  });
}

// As JSON has it, whose words whoever wrote the list knows.
std::string described(const Value* value) {
  if (value == nullptr) return "nothing";
  if (value->is(Kind::dictionary)) return "an object";
  if (value->is_list()) return "a list";
  return json_text(*value).substr(0, 100);
}

Result<Tool> read_tool(const Value& value, std::size_t index) {
  const auto wrong = [&](std::string_view expected, const Value* found) {
    return Error::of(ErrorCode::invalid_argument, "tools[", index, "]: expected ", expected, ", found ",
                     described(found));
  };
  if (!value.is(Kind::dictionary)) return wrong("an object", &value);
  const Value* type = value.as_dictionary().find("type");
  if (type == nullptr || !type->is_text() || type->bytes() != "function") {
    return wrong("\"type\": \"function\"", type);
  }
  const Value* function = value.as_dictionary().find("function");
  if (function == nullptr || !function->is(Kind::dictionary)) return wrong("an object \"function\"", function);
  Tool tool;
  tool.parameters = no_parameters();
  for (const Dictionary::Entry& entry : function->as_dictionary().entries()) {
    const std::string& key = entry.key.bytes();
    if (entry.value.is_none() && key != "name") continue;
    if (key == "name") {
      if (!entry.value.is_text() || !is_name_of_tool(entry.value.bytes())) {
        return wrong("a name of 1 to 128 letters, digits, '_', '-' and '.'", &entry.value);
      }
      tool.name = entry.value.bytes();
    } else if (key == "description") {
      if (!entry.value.is_text()) return wrong("a text as description", &entry.value);
      tool.description = entry.value.bytes();
    } else if (key == "parameters") {
      if (!entry.value.is(Kind::dictionary)) return wrong("a JSON Schema as parameters", &entry.value);
      tool.parameters = entry.value;
    } else if (key == "strict") {
      if (!entry.value.is(Kind::boolean)) return wrong("true or false as strict", &entry.value);
      tool.is_strict = entry.value.as_boolean();
    } else {
      return Error::of(ErrorCode::unsupported, "tools[", index, "]: nobody knows the field '", key, "'");
    }
  }
  if (tool.name.empty()) return wrong("a name", nullptr);
  return tool;
}

}  // namespace

Value no_parameters() {
  Dictionary schema;
  schema.insert("type", Value::text("object"));
  schema.insert("properties", Value::dictionary({}));
  schema.insert("additionalProperties", Value::boolean(false));
  return Value::dictionary(std::move(schema));
}

Result<std::vector<Tool>> read_tools(const Value& list) {
  if (!list.is_list()) {
    return Error::of(ErrorCode::invalid_argument, "expected a list of tools, found ", described(&list));
  }
  std::vector<Tool> tools;
  for (const Value& value : list.items()) {
    Tool tool = TRY(read_tool(value, tools.size()));
    if (find_tool(tools, tool.name) != nullptr) {
      return Error::of(ErrorCode::invalid_argument, "expected tools of different names, found two of '", tool.name,
                       "'");
    }
    tools.push_back(std::move(tool));
  }
  return tools;
}

Value tools_value(std::span<const Tool> tools) {
  std::vector<Value> list;
  for (const Tool& tool : tools) {
    Dictionary function;
    function.insert("name", Value::text(tool.name));
    function.insert("description", Value::text(tool.description));
    Dictionary anything;
    anything.insert("type", Value::text("object"));
    anything.insert("properties", Value::dictionary({}));
    function.insert("parameters", tool.parameters.is_none() ? Value::dictionary(std::move(anything)) : tool.parameters);
    Dictionary entry;
    entry.insert("type", Value::text("function"));
    entry.insert("function", Value::dictionary(std::move(function)));
    list.push_back(Value::dictionary(std::move(entry)));
  }
  return Value::list(std::move(list));
}

Result<std::string> checked_json_text(const Value& value) {
  chat::Runtime runtime(chat::Limits{});
  chat::JsonOptions options;
  options.keeps_spelling = true;
  return chat::json_of(value, options, runtime);
}

std::string json_text(const Value& value) {
  auto json = checked_json_text(value);
  return json.ok() ? std::move(json).value() : "{}";
}

const Tool* find_tool(std::span<const Tool> tools, std::string_view name) {
  const auto found = std::ranges::find(tools, name, &Tool::name);
  return found == tools.end() ? nullptr : &*found;
}

}  // namespace ingot::calls
