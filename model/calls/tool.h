// Functions that a model may call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::calls {

struct Tool {
  std::string name;
  std::string description = {};
  chat::Value parameters = {};  // JSON Schema; none: anything
  bool is_strict = false;       // as OpenAI's form says it; all calls that are enforced keep to the schema
};

enum class ToolChoice : std::uint8_t {
  none,
  automatic,  // text or calls, as the model likes
  required,   // one call at the least
  named,      // a call of this tool
};

// The schema of a function that takes nothing.
chat::Value no_parameters();

// From OpenAI's list: [{"type": "function", "function": {"name", "description", "parameters", "strict"}}]. One without
// parameters takes none.
Result<std::vector<Tool>> read_tools(const chat::Value& list);
// And as templates expect it.
chat::Value tools_value(std::span<const Tool> tools);

// As JSON, with keys in their order and numbers as they were written.
std::string json_text(const chat::Value& value);
// The same, or why it has none.
Result<std::string> checked_json_text(const chat::Value& value);

// Null where there is none of the name.
const Tool* find_tool(std::span<const Tool> tools, std::string_view name);

}  // namespace ingot::calls
