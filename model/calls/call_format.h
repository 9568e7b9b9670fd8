// How a model writes calls of tools and thoughts, read off its chat template: messages with calls and thoughts are
// rendered, and what stands around their parts are the marks.
//
//   const CallFormat format = CallFormat::read(chat_template, {.bos_token = "<s>", .eos_token = "</s>"});
//   AnswerParser parser(format, format.opens_thought(prompt), true, tools);   // call_parser.h
//   auto grammar = TRY(call_grammar(format, tools, ToolChoice::required, "", true));   // call_grammar.h
//
// Reading never fails. A template that does not write calls, or writes them in a way that is not understood, gets a
// generic form, which the model must be told about: chat_with_tools.h prepares messages for both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls/literal_rewriter.h"
#include "model/calls/tool.h"
#include "model/chat/chat_template.h"

namespace ingot::calls {

enum class CallShape : std::uint8_t {
  object,    // {"name": "f", "arguments": {...}}
  named,     // f<mark>{...}
  tagged,    // f, then every argument between marks: texts as they are, other values as JSON
  function,  // f(key=value), or another spelling of the kind
};

// A piece of a call as the template writes it.
struct CallPart {
  enum class Kind : std::uint8_t { text, name, arguments, id, index };
  Kind kind;
  std::string text = {};
};

// Marks are spelled as the template does, white space included. Parsers look for them without.
struct CallSpelling {
  CallShape shape = CallShape::object;
  std::string section_begin, section_end;  // around all calls of an answer
  std::string call_begin, call_end;        // around each
  std::string separator;                   // between two
  std::vector<CallPart> parts;             // between call_begin and call_end
  bool writes_several = false;             // more than one call in an answer

  std::string name_key, arguments_key;  // object

  std::string key_begin, key_end, value_end;  // tagged: <key_begin>key<key_end>value<value_end>
  std::string text_begin, text_end;           // tagged: around a text that would be misread without
  LiteralSyntax literal = {};                 // function: how values are written
  std::string argument_separator;             // function: between two arguments

  // The mark that tells that calls begin; empty: the first byte of an answer does.
  std::string_view trigger() const;
};

struct TemplateTokens {
  std::string bos_token = {};
  std::string eos_token = {};
};

class CallFormat {
 public:
  static CallFormat read(const chat::ChatTemplate& form, const TemplateTokens& tokens);
  // For models without a template, and wherever reading one finds nothing.
  static CallFormat generic(std::string reason);

  // The model must be told how to write calls, and is_generic_because says why.
  bool is_generic() const { return !generic_reason_.empty(); }
  const std::string& is_generic_because() const { return generic_reason_; }
  const CallSpelling& spelling() const { return spelling_; }

  // Around thoughts, without white space; empty: none are known.
  const std::string& thought_begin() const { return thought_begin_; }
  const std::string& thought_end() const { return thought_end_; }
  // Around the answer itself, where a template has such marks.
  const std::string& content_begin() const { return content_begin_; }
  const std::string& content_end() const { return content_end_; }
  // Whether a prompt that was rendered ends inside of a thought.
  bool opens_thought(std::string_view prompt) const;
  // Whether the template shows the thoughts of earlier messages, and under which name.
  const std::string& thought_field() const { return thought_field_; }
  // Whether the template heeds enable_thinking.
  bool can_switch_thinking() const { return can_switch_thinking_; }
  // Whether calls in messages must have their arguments as text instead of an object.
  bool takes_arguments_as_text() const { return takes_arguments_as_text_; }
  // Whether messages with calls must have no content at all instead of an empty one.
  bool takes_calls_without_content() const { return takes_calls_without_content_; }
  // Whether the template tells the model which tools there are. If not, a system message must.
  bool shows_tools() const { return shows_tools_; }
  // Whether the template shows what a system message says. If not, the first turn of the user must say it.
  bool shows_system() const { return shows_system_; }
  // Whether the template refuses two turns of the user in a row.
  bool wants_turns() const { return wants_turns_; }
  // Whether texts that the template writes can be read back whatever they hold: some escape nothing.
  bool is_exact() const { return is_exact_; }

  // Marks that may be special tokens: an answer must be decoded with those kept, and a grammar may need them.
  std::vector<std::string> marks() const;
  // All of it in one line.
  std::string describe() const;

 private:
  friend class FormatReader;

  CallSpelling spelling_;
  std::string generic_reason_;
  std::string thought_begin_, thought_end_, thought_field_;
  std::string content_begin_, content_end_;
  bool can_switch_thinking_ = false;
  bool takes_arguments_as_text_ = false;
  bool takes_calls_without_content_ = false;
  bool shows_tools_ = false;
  bool shows_system_ = true;
  bool wants_turns_ = false;
  bool is_exact_ = true;
};

}  // namespace ingot::calls
