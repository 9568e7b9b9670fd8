#include "model/calls/call_format.h"

#include <algorithm>

#include "model/calls/marks.h"
#include "model/calls/unit_compare.h"

namespace ingot::calls {

namespace {

constexpr std::string_view name_of(CallShape shape) {
  switch (shape) {
    case CallShape::object: return "object";
    case CallShape::named: return "named";
    case CallShape::tagged: return "tagged";
    case CallShape::function: return "function";
  }
  return "";
}

// With line breaks as they are written in sources.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char byte : text) {
    if (byte == '\n') {
      result += "\\n";
    } else {
      result += byte;
    }
  }
  return result + "'";
}

std::string pattern_of(const std::vector<CallPart>& parts) {
  std::string result;
  for (const CallPart& part : parts) {
    switch (part.kind) {
      case CallPart::Kind::text: result += part.text; break;
      case CallPart::Kind::name: result += "$name"; break;
      case CallPart::Kind::arguments: result += "$arguments"; break;
      case CallPart::Kind::id: result += "$id"; break;
      case CallPart::Kind::index: result += "$index"; break;
    }
  }
  return result;
}

}  // namespace

std::string_view CallSpelling::trigger() const {
  return core_of(section_begin).empty() ? head_of(call_begin) : head_of(section_begin);
}

CallFormat CallFormat::generic(std::string reason) {
  CallFormat format;
  format.generic_reason_ = std::move(reason);
  CallSpelling& spelling = format.spelling_;
  spelling.call_begin = "<tool_call>\n";
  spelling.call_end = "\n</tool_call>";
  spelling.separator = "\n";
  spelling.writes_several = true;
  spelling.name_key = "name";
  spelling.arguments_key = "arguments";
  spelling.parts = {{CallPart::Kind::text, "{\"name\": \""},
                    {CallPart::Kind::name},
                    {CallPart::Kind::text, "\", \"arguments\": "},
                    {CallPart::Kind::arguments},
                    {CallPart::Kind::text, "}"}};
  return format;
}

bool CallFormat::opens_thought(std::string_view prompt) const {
  return !thought_begin_.empty() && core_of(prompt).ends_with(thought_begin_);
}

std::vector<std::string> CallFormat::marks() const {
  std::vector<std::string> marks;
  const auto add = [&](std::string_view text) {
    for (const std::string_view unit : units_of(text)) {
      const bool is_known = std::ranges::find(marks, unit) != marks.end();
      if (unit.size() > 1 && !is_known) marks.emplace_back(unit);
    }
  };
  for (const std::string* text :
       {&spelling_.section_begin, &spelling_.section_end, &spelling_.call_begin, &spelling_.call_end,
        &spelling_.separator, &spelling_.key_begin, &spelling_.key_end, &spelling_.value_end, &spelling_.literal.quote,
        &thought_begin_, &thought_end_, &content_begin_, &content_end_}) {
    add(*text);
  }
  for (const CallPart& part : spelling_.parts) add(part.text);
  return marks;
}

std::string CallFormat::describe() const {
  std::string line;
  const auto add = [&](std::string_view what, std::string_view text) {
    if (!text.empty()) line += (line.empty() ? "" : " ") + std::string(what) + quoted(text);
  };
  if (is_generic()) {
    line = "generic: " + generic_reason_;
  } else {
    line = name_of(spelling_.shape);
    add("", spelling_.section_begin);
    add("call ", spelling_.call_begin + pattern_of(spelling_.parts) + spelling_.call_end);
    if (spelling_.shape == CallShape::tagged) {
      add("each ", spelling_.key_begin + "$key" + spelling_.key_end + "$value" + spelling_.value_end);
      add("texts ", spelling_.text_begin + spelling_.text_end);
    }
    if (spelling_.shape == CallShape::function) {
      add("values ", std::string(1, spelling_.literal.open) + "$key" + spelling_.literal.assign +
                         (spelling_.literal.quote.empty() ? "\"" : spelling_.literal.quote) + spelling_.literal.close);
    }
    if (spelling_.writes_several) {
      add("then ", spelling_.separator);
    } else {
      line += " alone";
    }
    add("end ", spelling_.section_end);
    if (takes_arguments_as_text_) line += " arguments-as-text";
    if (takes_calls_without_content_) line += " without-content";
    if (!shows_tools_) line += " hides-tools";
    if (!is_exact_) line += " inexact";
  }
  if (!shows_system_) line += " hides-system";
  if (wants_turns_) line += " in-turns";
  if (!thought_end_.empty()) add("thought ", thought_begin_ + "..." + thought_end_);
  if (!thought_field_.empty()) line += " in " + thought_field_;
  if (can_switch_thinking_) line += " switched";
  if (!content_begin_.empty()) add("content ", content_begin_ + "..." + content_end_);
  return line;
}

}  // namespace ingot::calls
