// Calls that a template writes are read back as they were, whatever their arguments.
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "model/calls/chat_with_tools.h"
#include "model/calls/outside_templates.h"
#include "model/calls/test_templates.h"
#include "model/calls/unit_compare.h"
#include "model/chat/chat_context.h"
#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/grammar/schema/schema_document.h"

namespace ingot::calls {
namespace {

using chat::Dictionary;
using chat::Value;

class RandomArguments {
 public:
  RandomArguments(std::uint64_t seed, bool is_exact) : numbers_(seed), is_exact_(is_exact) {}

  // Arguments that fit the tool.
  Value draw() {
    Dictionary arguments;
    const auto put = [&](const char* key, Value value) {
      if (numbers_.below(3) != 0) arguments.insert(key, std::move(value));
    };
    put("title", text());
    put("count", Value::integer(static_cast<std::int64_t>(numbers_.below(2000)) - 1000));
    put("ratio", Value::floating(static_cast<double>(numbers_.below(1000)) / 64));
    put("flag", Value::boolean(numbers_.below(2) == 0));
    put("nothing", Value());
    put("items", list(2));
    put("options", object(2));
    return Value::dictionary(std::move(arguments));
  }

 private:
  Value text() {
    constexpr std::string_view plain = "abc xyz 019 ";
    constexpr std::string_view hard = "abc \n\t\"'\\<>&{}[]()|=:,/é你😀";
    // Whole characters: cut where one begins.
    const std::string_view alphabet = is_exact_ ? hard : plain;
    std::string result;
    for (std::uint64_t size = numbers_.below(12); size > 0; --size) {
      std::size_t begin = numbers_.below(alphabet.size());
      while ((static_cast<unsigned char>(alphabet[begin]) & 0xc0) == 0x80) --begin;
      std::size_t end = begin + 1;
      while (end < alphabet.size() && (static_cast<unsigned char>(alphabet[end]) & 0xc0) == 0x80) ++end;
      result += alphabet.substr(begin, end - begin);
    }
    return Value::text(std::move(result));
  }
  Value value(int depth) {
    switch (numbers_.below(depth > 0 ? 7 : 5)) {
      case 0: return text();
      case 1: return Value::integer(static_cast<std::int64_t>(numbers_.below(100)));
      case 2: return Value::boolean(true);
      case 3: return Value();
      case 4: return Value::floating(0.5);
      case 5: return list(depth - 1);
      default: return object(depth - 1);
    }
  }
  Value list(int depth) {
    std::vector<Value> items;
    for (std::uint64_t size = numbers_.below(4); size > 0; --size) items.push_back(value(depth));
    return Value::list(std::move(items));
  }
  Value object(int depth) {
    Dictionary dictionary;
    for (std::uint64_t size = numbers_.below(4); size > 0; --size) {
      dictionary.insert("key" + std::to_string(numbers_.below(9)), value(depth));
    }
    return Value::dictionary(std::move(dictionary));
  }

  RandomNumbers numbers_;
  bool is_exact_;
};

const std::vector<Tool>& list_tools() {
  static const std::vector<Tool> list = read_tools(chat::value_from_json(R"([{"type": "function", "function": {
      "name": "make_list", "description": "d", "parameters": {"type": "object", "properties": {
        "title": {"description": "d", "type": "string"}, "count": {"description": "d", "type": "integer"},
        "ratio": {"description": "d", "type": "number"}, "flag": {"description": "d", "type": "boolean"},
        "nothing": {"description": "d"}, "items": {"description": "d", "type": "array", "items": {"type": "string"}},
        "options": {"description": "d", "type": "object", "additionalProperties": {"type": "string"}}}}}}])")
                                                       .value())
                                            .value();
  return list;
}

Value message_with(const std::vector<Value>& arguments) {
  std::vector<Value> calls;
  for (const Value& one : arguments) {
    Dictionary function;
    function.insert("name", Value::text("make_list"));
    function.insert("arguments", Value::text(grammar::canonical_json(one)));
    Dictionary call;
    call.insert("id", Value::text("call00001"));
    call.insert("type", Value::text("function"));
    call.insert("function", Value::dictionary(std::move(function)));
    calls.push_back(Value::dictionary(std::move(call)));
  }
  Dictionary message;
  message.insert("role", Value::text("assistant"));
  message.insert("content", Value());
  message.insert("tool_calls", Value::list(std::move(calls)));
  return Value::dictionary(std::move(message));
}

// What the model would have written; prompt: what stands before.
Result<std::string> written(const chat::ChatTemplate& form, const CallFormat& format, std::vector<Value> messages,
                            bool asks) {
  ChatWithTools chat = TRY(chat_with_tools(format, std::move(messages), list_tools()));
  chat::ChatRequest request;
  request.messages = std::move(chat.messages);
  request.tools = std::move(chat.tools);
  request.bos_token = "<s>";
  request.eos_token = "</s>";
  request.add_generation_prompt = asks;
  request.now = chat::LocalTime{2024, 7, 26, 12, 0, 0};
  return form.render(chat::make_context(std::move(request)));
}

void expect_round_trips(std::string_view name, const chat::ChatTemplate& form, const CallFormat& format) {
  const Value question = chat::make_message("user", "Hello");
  const auto prompt = written(form, format, {question}, true);
  ASSERT_TRUE(prompt.ok()) << name << ": " << prompt.error().text();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    RandomArguments random(seed, format.is_exact());
    std::vector<Value> calls = {random.draw()};
    // Two: a template of DeepSeek's closes the section after the second and goes on with a third.
    if (format.spelling().writes_several && seed % 2 == 1) calls.push_back(random.draw());
    const auto whole = written(form, format, {question, message_with(calls)}, false);
    ASSERT_TRUE(whole.ok()) << name << ": " << whole.error().text();
    const std::string_view text = std::string_view(whole.value()).substr(common_begin(prompt.value(), whole.value()));
    const auto pieces = take_apart(AnswerParser(format, false, true, list_tools()), {text});
    std::vector<std::string> arguments;
    for (const AnswerPiece& piece : pieces) {
      if (piece.kind == AnswerPiece::Kind::call_begin) {
        EXPECT_EQ(piece.text, "make_list") << name;
        arguments.emplace_back();
      }
      if (piece.kind == AnswerPiece::Kind::call_arguments) arguments[piece.call] += piece.text;
    }
    ASSERT_EQ(arguments.size(), calls.size()) << name << ": " << text;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      EXPECT_TRUE(is_json_of(arguments[index], calls[index])) << name << ": " << text << "\nread " << arguments[index]
                                                              << "\nexpected " << grammar::canonical_json(calls[index]);
    }
  }
}

TEST(RoundTrip, OfCallsThroughEveryShape) {
  for (const TestTemplate& row : test_templates) {
    expect_round_trips(row.name, parse_test_template(row), read_test_template(row));
  }
}

TEST(RoundTrip, OfCallsThroughPlainTextWhereATemplateHasNone) {
  const auto form = chat::ChatTemplate::parse(
      "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}");
  const CallFormat format = CallFormat::read(form.value(), {});
  ASSERT_TRUE(format.is_generic());
  expect_round_trips("generic", form.value(), format);
}

TEST(RoundTrip, OfCallsThroughOutsideTemplates) {
  const auto folder = outside_template_folder();
  if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA names no folder";
  std::size_t own = 0;
  for (const OutsideTemplate& row : outside_templates) {
    const auto form = read_outside_template(*folder, row);
    ASSERT_TRUE(form.ok()) << row.file;
    const CallFormat format = CallFormat::read(form.value(), {.bos_token = "<s>", .eos_token = "</s>"});
    own += format.is_generic() ? 0 : 1;
    expect_round_trips(row.file, form.value(), format);
  }
  std::printf("round trips: %zu of %zu outside templates in a form of their own\n", own, outside_templates.size());
}

}  // namespace
}  // namespace ingot::calls
