// Answers that never become anything, large ones and byte by byte: what is kept is bounded, or told at the end. Time
// that grows with the square of the size would show as a test that does not end.
#include <gtest/gtest.h>
#include <malloc.h>

#include <string>
#include <tuple>

#include "model/calls/call_grammar.h"
#include "model/calls/test_templates.h"
#include "model/chat/value_json.h"
#include "model/grammar/grammar_state.h"

namespace ingot::calls {
namespace {

constexpr std::size_t large = 1u << 20;

std::string repeated(std::string_view part, std::size_t size) {
  std::string text;
  while (text.size() < size) text += part;
  return text;
}

std::string content_of(const CallFormat& format, std::string_view text, std::size_t piece_size, std::size_t& calls) {
  AnswerParser parser(format, false, true);
  std::string content;
  const auto add = [&](const std::vector<AnswerPiece>& pieces) {
    for (const AnswerPiece& piece : pieces) content += piece.kind == AnswerPiece::Kind::content ? piece.text : "";
  };
  for (std::size_t at = 0; at < text.size(); at += piece_size) add(parser.take(text.substr(at, piece_size)));
  add(parser.finish());
  calls = parser.call_count();
  return content;
}

TEST(HostileAnswer, IsToldAsItIsWhereItHoldsNoCall) {
  for (const std::string_view part :
       {"<", "<call", "<call>", "<calls>[", "<call>{", "{", "</think>", " ", "<call>{\"name\": "}) {
    for (const auto& [size, piece_size] :
         {std::pair<std::size_t, std::size_t>{part == "<" ? large : large / 16, 4099}, {large / 128, 1}}) {
      const std::string text = repeated(part, size);
      for (const TestTemplate& row : test_templates) {
        std::size_t calls = 0;
        EXPECT_TRUE(content_of(read_test_template(row), text, piece_size, calls) == text) << row.name << ": " << part;
        EXPECT_EQ(calls, 0u) << row.name << ": " << part;
      }
    }
  }
}

// Each of many choices has a parser. Where an allocator tells nothing (under a sanitizer) nothing is proved.
TEST(HostileAnswer, IsReadWithoutTheDescriptionsOfItsTools) {
  const std::vector<Tool> tools = {{.name = "f", .description = std::string(8 * large, 'd')}};
  const CallFormat format = test_format("object");
  std::vector<AnswerParser> parsers;
  const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  for (int choice = 0; choice < 8; ++choice) parsers.emplace_back(format, false, true, tools);
  EXPECT_LT(::mallinfo2().uordblks + ::mallinfo2().hblkhd, before + large);
}

TEST(HostileAnswer, MayHaveAnArgumentOfAMegabyte) {
  const std::string body = repeated("<key </ke \\\\ ", large);
  for (const auto& [format, begin, end] :
       {std::tuple{"object", "<call>{\"name\": \"f\", \"arguments\": {\"t\": \"", "\"}}</call>"},
        std::tuple{"tagged", "<call=f>\n<key=t>\n", "\n</key>\n</call>"},
        std::tuple{"function", "<calls>[f(t='", "')]</calls>"}}) {
    AnswerParser parser(test_format(format), false, true);
    std::size_t size = 0;
    const std::string text = begin + body + end;
    for (std::size_t at = 0; at < text.size(); at += 7) {
      for (const AnswerPiece& piece : parser.take(std::string_view(text).substr(at, 7))) size += piece.text.size();
    }
    EXPECT_EQ(parser.complete_call_count(), 1u) << format;
    EXPECT_GE(size, body.size()) << format;
  }
}

// What a schema says of them is asked at each, and whoever asks computes for all others.
TEST(HostileAnswer, MayNameTwentyThousandParametersThatTheSchemaHidesBehindReferences) {
  const std::string listed = repeated("\"v\",", 5 * 100'000) + "\"v\"";
  const std::string refers = repeated(R"({"$ref": "#/$defs/listed"},)", 27 * 90) + "{}";
  std::string schema = R"({"$defs": {"listed": {"enum": [)" + listed + R"(]}, "all": {"allOf": [)" + refers + "]}}, ";
  schema += R"("properties": {"first": {})";
  std::string answer = "<call=f>";
  for (int number = 0; number < 20'000; ++number) {
    const std::string name = "p" + std::to_string(number);
    schema += ",\"" + name + R"(": {"$ref": "#/$defs/all"})";
    answer += "<key=" + name + ">1</key>";
  }
  const std::vector<Tool> tools = {{.name = "f", .parameters = chat::value_from_json(schema + "}}").value()}};
  AnswerParser parser(test_format("tagged"), false, true, tools);
  static_cast<void>(parser.take(answer + "</call>"));
  EXPECT_EQ(parser.complete_call_count(), 1u);
}

// A schema may allow any value, and then a grammar holds an answer to brackets that close, however many.
TEST(HostileAnswer, MayNestAsDeepAsItLikes) {
  const std::string deep = "{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}";
  const std::vector<Tool> tools = {{.name = "f", .parameters = chat::value_from_json("{}").value()}};
  const auto compiled = call_grammar(test_format("object"), tools, ToolChoice::required, "", true);
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  grammar::GrammarState state(compiled.value());
  const std::string text = "<call>\n{\"name\": \"f\", \"arguments\": " + deep + "}\n</call>";
  EXPECT_TRUE(state.accept(text) && state.can_end());
  const auto pieces = take_apart(AnswerParser(test_format("object"), false, true), {text});
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1].text, deep);
  EXPECT_EQ(pieces[2].kind, AnswerPiece::Kind::call_end);
}

TEST(HostileAnswer, MayHaveAThousandCalls) {
  const std::string text = repeated("<call>\n{\"name\": \"f\", \"arguments\": {}}\n</call>\n", 44 * 1000);
  AnswerParser parser(test_format("object"), false, true);
  static_cast<void>(parser.take(text));
  EXPECT_EQ(parser.complete_call_count(), parser.call_count());
  EXPECT_GE(parser.call_count(), 950u);
}

}  // namespace
}  // namespace ingot::calls
