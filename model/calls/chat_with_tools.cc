#include "model/calls/chat_with_tools.h"

#include <algorithm>
#include <optional>

#include "model/chat/chat_context.h"
#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Kind;
using chat::Value;

namespace {

const Value* field(const Value& value, std::string_view name) {
  return value.is(Kind::dictionary) ? value.as_dictionary().find(name) : nullptr;
}

std::string_view text_field(const Value& value, std::string_view name) {
  const Value* found = field(value, name);
  return found != nullptr && found->is_text() ? std::string_view(found->bytes()) : std::string_view();
}

// Of a content that is a text, or a list of parts with texts.
std::string content_text(const Value& message) {
  const Value* content = field(message, "content");
  if (content == nullptr || !content->is_list()) return std::string(text_field(message, "content"));
  std::string text;
  for (const Value& part : content->items()) text += text_field(part, "text");
  return text;
}

Result<Value> object_of(const Value* arguments, std::size_t& values_left) {
  if (arguments == nullptr || arguments->is_none()) return Value::dictionary({});
  if (arguments->is(Kind::dictionary)) return *arguments;
  if (!arguments->is_text()) {
    return Error::of(ErrorCode::invalid_argument, "expected a JSON object as arguments of a call, found ",
                     arguments->type_name());
  }
  if (arguments->bytes().empty()) return Value::dictionary({});
  auto object = chat::value_from_json(arguments->bytes(), values_left);
  if (object.ok() && object.value().is(Kind::dictionary)) return object;
  if (!object.ok() && object.error().code() == ErrorCode::out_of_range) return object;  // it says what is too large
  return Error::of(ErrorCode::invalid_argument, "expected a JSON object as arguments of a call, found '",
                   std::string_view(arguments->bytes()).substr(0, 100), "'");
}

// One entry of tool_calls with its arguments as the template takes them.
Result<Value> prepared_call(const CallFormat& format, const Value& call, std::size_t& values_left) {
  const Value* function = field(call, "function");
  if (function == nullptr || text_field(*function, "name").empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected a call with a function and its name");
  }
  const Value arguments = TRY(object_of(field(*function, "arguments"), values_left));
  Dictionary prepared_function = function->as_dictionary();
  prepared_function.insert("arguments",
                           format.takes_arguments_as_text() ? Value::text(json_text(arguments)) : arguments);
  Dictionary prepared = call.as_dictionary();
  prepared.insert("function", Value::dictionary(std::move(prepared_function)));
  return Value::dictionary(std::move(prepared));
}

Result<Value> answer_message(const CallFormat& format, const Value& message, const std::vector<Value>& calls,
                             std::size_t& values_left) {
  Dictionary result = message.as_dictionary();
  std::vector<Value> prepared;
  std::string text = content_text(message);
  for (const Value& call : calls) {
    prepared.push_back(TRY(prepared_call(format, call, values_left)));
    if (!format.is_generic()) continue;
    const Value* function = field(prepared.back(), "function");
    if (!text.empty()) text += '\n';
    text += call_text(format, text_field(*function, "name"), *field(*function, "arguments"));
  }
  if (text.empty()) {
    result.insert("content", format.takes_calls_without_content() ? Value() : Value::text(""));
  } else if (format.is_generic()) {
    result.insert("content", Value::text(std::move(text)));
  }
  result.insert("tool_calls", format.is_generic() ? Value::list({}) : Value::list(std::move(prepared)));
  return Value::dictionary(std::move(result));
}

Value result_message(const Value& message) {
  return chat::make_message("user", "<tool_response>\n" + content_text(message) + "\n</tool_response>");
}

Value with_thought_field(const CallFormat& format, Value message) {
  const Value* thought = field(message, "reasoning_content");
  if (thought == nullptr || format.thought_field().empty() || format.thought_field() == "reasoning_content") {
    return message;
  }
  Dictionary result = message.as_dictionary();
  result.insert(format.thought_field(), *thought);
  return Value::dictionary(std::move(result));
}

std::string_view role_of(const Value& message) { return text_field(message, "role"); }

// The one message says both.
Value joined(const Value& message, const std::string& before, const std::string& after) {
  Dictionary result = message.as_dictionary();
  result.insert("content", Value::text(before + (before.empty() || after.empty() ? "" : "\n\n") + after));
  return Value::dictionary(std::move(result));
}

// For templates that have no system message.
void add_to_first_turn(std::vector<Value>& messages, const std::string& text) {
  const auto first = std::ranges::find(messages, "user", role_of);
  if (first == messages.end()) {
    messages.insert(messages.begin(), chat::make_message("user", text));
  } else {
    *first = joined(*first, text, content_text(*first));
  }
}

void add_to_system_message(std::vector<Value>& messages, const std::string& text) {
  const std::string_view role = messages.empty() ? std::string_view() : role_of(messages[0]);
  if (role != "system" && role != "developer") {
    messages.insert(messages.begin(), chat::make_message("system", text));
    return;
  }
  messages[0] = joined(messages[0], content_text(messages[0]), text);
}

// Arguments one by one, as formats write them that are no JSON.
std::string arguments_text(const CallSpelling& spelling, const Value& arguments) {
  const bool is_tagged = spelling.shape == CallShape::tagged;
  const LiteralSyntax& literal = spelling.literal;
  std::string text;
  for (const Dictionary::Entry& entry : arguments.as_dictionary().entries()) {
    if (is_tagged) {
      text += spelling.key_begin + entry.key.bytes() + spelling.key_end;
      text += entry.value.is_text() ? entry.value.bytes() : json_text(entry.value);
      text += spelling.value_end;
      continue;
    }
    if (!text.empty()) text += ", ";
    text += entry.key.bytes() + literal.assign;
    text += entry.value.is_text() && !literal.quote.empty() ? literal.quote + entry.value.bytes() + literal.quote
                                                            : json_text(entry.value);
  }
  return is_tagged ? text : literal.open + text + literal.close;
}

// Messages one behind the other. What a user says around results is one of them, where templates know no other turns.
class Turns {
 public:
  Turns(bool joins, std::vector<Value>& messages) : joins_(joins), messages_(messages) {}

  void add(Value message, bool is_result) {
    const bool is_user = role_of(message) == "user";
    const bool goes_on = joins_ && is_user && (is_result || is_behind_result_) && !messages_.empty() &&
                         role_of(messages_.back()) == "user";
    is_behind_result_ = is_user && (is_result || is_behind_result_);
    if (!goes_on) {
      end();
      messages_.push_back(std::move(message));
      return;
    }
    if (!words_) words_ = content_text(messages_.back());
    const std::string more = content_text(message);
    if (!words_->empty() && !more.empty()) *words_ += "\n\n";
    *words_ += more;
  }
  // There may be thousands of results: their words are put into the message once.
  void end() {
    if (words_) messages_.back() = joined(messages_.back(), *words_, "");
    words_.reset();
  }

 private:
  bool joins_;
  std::vector<Value>& messages_;
  bool is_behind_result_ = false;     // in a turn of the user
  std::optional<std::string> words_;  // of the last message, where it has more than it says
};

}  // namespace

std::string call_text(const CallFormat& format, std::string_view name, const Value& arguments) {
  const CallSpelling& spelling = format.spelling();
  std::string text = spelling.call_begin;
  for (const CallPart& part : spelling.parts) {
    switch (part.kind) {
      case CallPart::Kind::text: text += part.text; break;
      case CallPart::Kind::name: text += name; break;
      case CallPart::Kind::index: text += '0'; break;
      case CallPart::Kind::id: text += "call00000"; break;
      case CallPart::Kind::arguments:
        if (spelling.shape == CallShape::object || spelling.shape == CallShape::named) {
          text += json_text(arguments);
        } else {
          text += arguments_text(spelling, arguments);
        }
        break;
    }
  }
  return text + spelling.call_end;
}

std::string tool_instruction(const CallFormat& format, std::span<const Tool> tools) {
  Dictionary example;
  example.insert("parameter", Value::text("value"));
  std::string text = "You may call functions to help the user. They are described by JSON Schema:\n";
  const Value listed = tools_value(tools);
  for (const Value& tool : listed.items()) text += json_text(*field(tool, "function")) + '\n';
  text += "\nTo call one, write its name and its arguments in exactly this form, and nothing after it:\n";
  text += format.spelling().section_begin;
  text += call_text(format, "function_name", Value::dictionary(std::move(example)));
  text += format.spelling().section_end;
  return text + "\nYou will get the result in the next message. If no function helps, answer without calling one.";
}

Result<ChatWithTools> chat_with_tools(const CallFormat& format, std::vector<Value> messages,
                                      std::span<const Tool> tools) {
  ChatWithTools result;
  std::size_t values_left = chat::most_json_values;  // of the arguments of all calls
  Turns turns(format.wants_turns(), result.messages);
  for (Value& message : messages) {
    const Value* calls = field(message, "tool_calls");
    if (calls != nullptr && calls->is_list() && !calls->items().empty()) {
      turns.add(TRY(answer_message(format, with_thought_field(format, message), calls->items(), values_left)), false);
    } else if (format.is_generic() && role_of(message) == "tool") {
      turns.add(result_message(message), true);
    } else {
      turns.add(with_thought_field(format, std::move(message)), false);
    }
  }
  turns.end();
  if (tools.empty()) return result;
  if (format.is_generic() || !format.shows_tools()) {
    const std::string instruction = tool_instruction(format, tools);
    format.shows_system() ? add_to_system_message(result.messages, instruction)
                          : add_to_first_turn(result.messages, instruction);
  } else {
    result.tools = tools_value(tools);
  }
  return result;
}

}  // namespace ingot::calls
