// Templates that write calls in one way each, and answers taken apart as a whole.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls/call_parser.h"

namespace ingot::calls {

struct TestTemplate {
  std::string_view name;
  std::string_view calls;     // what it writes of the list `calls`
  std::string_view describe;  // what is read off it
};

constexpr std::array<TestTemplate, 8> test_templates = {{
    {"object",
     "{% for c in calls %}\n<call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ "
     "c.function.arguments|tojson "
     "}}}\n</call>{% endfor %}",
     "object call '<call>\\n{\"name\": \"$name\", \"arguments\": $arguments}\\n</call>' thought "
     "'<think>...</think>' in reasoning_content switched"},
    {"list",
     "<calls>[{% for c in calls %}{\"id\": \"{{ c.id }}\", \"arguments\": {{ c.function.arguments|tojson }}, \"tool\": "
     "\"{{ c.function.name }}\"}{{ ', ' if not loop.last }}{% endfor %}]</calls>",
     "object '<calls>[' call '{\"id\": \"$id\", \"arguments\": $arguments, \"tool\": \"$name\"}' then ', ' end "
     "']</calls>' thought '<think>...</think>' in reasoning_content switched"},
    {"named",
     "<calls>{% for c in calls %}<call>{{ c.function.name }}:{{ loop.index0 }}<args>{{ c.function.arguments|tojson "
     "}}</call>{% endfor %}</calls>",
     "named '<calls>' call '<call>$name:$index<args>$arguments</call>' end '</calls>' thought '<think>...</think>' in "
     "reasoning_content switched"},
    {"tagged",
     "{% for c in calls %}\n<call={{ c.function.name }}>\n{% for k, v in c.function.arguments.items() %}<key={{ k "
     "}}>\n{{ v if v is string else v|tojson }}\n</key>\n{% endfor %}</call>{% endfor %}",
     "tagged call '<call=$name>\\n$arguments</call>' each '<key=$key>\\n$value\\n</key>\\n' thought "
     "'<think>...</think>' in reasoning_content switched"},
    {"unclosed",
     "{% for c in calls %}<call={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}<key={{ k }}>{{ v "
     "if v is string else v|tojson }}</key>{% endfor %}{% endfor %}",
     "tagged call '<call=$name>$arguments' each '<key=$key>$value</key>' thought '<think>...</think>' in "
     "reasoning_content switched"},
    {"function",
     "<calls>[{% for c in calls %}{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ "
     "v|tojson }}{{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]</calls>",
     "function '<calls>[' call '$name$arguments' values '($key=\")' then ', ' end ']</calls>' thought "
     "'<think>...</think>' in reasoning_content switched"},
    {"worded",
     "Action:\n```json\n[{% for c in calls %}\n{\"tool\": \"{{ c.function.name }}\", \"parameters\": {{ "
     "c.function.arguments|tojson }}}{{ ',' if not loop.last }}{% endfor %}\n]```",
     "object 'Action:\\n```json\\n[' call '{\"tool\": \"$name\", \"parameters\": $arguments}' then ',' end "
     "']```' thought '<think>...</think>' in reasoning_content switched"},
    {"bare",
     "{% if calls|length > 1 %}{{ raise_exception('one only') }}{% endif %}{\"name\": \"{{ calls[0].function.name "
     "}}\", "
     "\"parameters\": {{ calls[0].function.arguments|tojson }}}",
     "object call '{\"name\": \"$name\", \"parameters\": $arguments}' alone thought '<think>...</think>' in "
     "reasoning_content switched"},
}};

// No system, no tools, and turns that alternate: as several older models have it.
constexpr std::string_view strict_template =
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{% if (m.role == 'user') != loop.index0 is even %}{{ raise_exception('take turns') }}{% endif %}"
    "<|{{ m.role }}|>{{ m.content | trim }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

inline chat::ChatTemplate parse_test_template(const TestTemplate& row) {
  std::string source =
      "{% if tools %}{{ tools|tojson }}{% endif %}{% for m in messages %}<|{{ m.role }}|>\n"
      "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"
      "{% if m.tool_calls %}{% set calls = m.tool_calls %}";
  source += row.calls;
  source +=
      "{% endif %}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n"
      "{{ '<think>\\n' if enable_thinking }}{% endif %}";
  return chat::ChatTemplate::parse(std::move(source)).value();
}

inline CallFormat read_test_template(const TestTemplate& row) {
  return CallFormat::read(parse_test_template(row), {.bos_token = "<s>", .eos_token = "</s>"});
}

inline CallFormat test_format(std::string_view name) {
  for (const TestTemplate& row : test_templates) {
    if (row.name == name) return read_test_template(row);
  }
  __builtin_trap();
}

// Pieces of one kind that follow one another as one.
inline void join(std::vector<AnswerPiece>& joined, std::vector<AnswerPiece> more) {
  for (AnswerPiece& piece : more) {
    const bool goes_on = !joined.empty() && joined.back().kind == piece.kind && joined.back().call == piece.call &&
                         piece.kind != AnswerPiece::Kind::call_begin;
    if (goes_on) {
      joined.back().text += piece.text;
    } else {
      joined.push_back(std::move(piece));
    }
  }
}

inline std::vector<AnswerPiece> take_apart(AnswerParser parser, const std::vector<std::string_view>& parts) {
  std::vector<AnswerPiece> pieces;
  for (const std::string_view part : parts) join(pieces, parser.take(part));
  join(pieces, parser.finish());
  return pieces;
}

// content("a") reasoning("b") call("f") arguments("{}") end
inline std::string shown(const std::vector<AnswerPiece>& pieces) {
  std::string text;
  for (const AnswerPiece& piece : pieces) {
    if (!text.empty()) text += ' ';
    switch (piece.kind) {
      case AnswerPiece::Kind::content: text += "content(" + piece.text + ")"; break;
      case AnswerPiece::Kind::reasoning: text += "reasoning(" + piece.text + ")"; break;
      case AnswerPiece::Kind::call_begin: text += std::to_string(piece.call) + ":" + piece.text; break;
      case AnswerPiece::Kind::call_arguments: text += piece.text; break;
      case AnswerPiece::Kind::call_end: text += "end"; break;
    }
  }
  return text;
}

}  // namespace ingot::calls
