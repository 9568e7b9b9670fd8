#include "model/calls/call_parser.h"

#include <gtest/gtest.h>

#include <string>

#include "model/calls/test_templates.h"
#include "model/chat/value_json.h"

namespace ingot::calls {
namespace {

struct Row {
  std::string_view format;
  bool begins_in_thought;
  std::string_view text;
  std::string_view pieces;
};

const std::vector<Tool>& typed_tools() {
  static const std::vector<Tool> list = {
      {.name = "f",
       .parameters = chat::value_from_json(R"({"properties": {"t": {"type": "string"}, "e": {"enum": ["1", "2"]},
         "n": {"type": "integer"}, "o": {"type": ["string", "null"]}, "u": {}}})")
                         .value()}};
  return list;
}

constexpr Row rows[] = {
    {"object", false, "Hello", "content(Hello)"},
    {"object", false, "", ""},
    {"object", false, " a <call b <cal", "content( a <call b <cal)"},
    {"object", false, "<think>\nHm.\n</think>\n\nYes.", "reasoning(Hm.) content(Yes.)"},
    {"object", true, "\nHm.\n</think>\n\nYes.", "reasoning(Hm.) content(Yes.)"},
    {"object", true, "Hm", "reasoning(Hm)"},
    {"object", true, "</think>Yes <think>", "content(Yes <think>)"},
    {"object", false, "Yes: <think> is a mark", "content(Yes: <think> is a mark)"},
    {"object", false, "\n<call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</call>", "0:f {\"a\":1} end"},
    {"object", false, "Wait.\n<call>{\"arguments\":{\"a\":[1, 2.50,\"x\\u00e9\"]},\"name\":\"f\"}</call> Done.",
     "content(Wait.) 0:f {\"a\":[1,2.50,\"x\\u00e9\"]} end content( Done.)"},
    {"object", false,
     "<call>\n{\"name\": \"f\", \"arguments\": {}}\n</call>\n<call>\n{\"name\": \"g\"}\n</call><call>{\"name\": \"h\", "
     "\"arguments\": null}",
     "0:f {} end 1:g {} end 2:h {} end"},
    {"object", false, "<call>{\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}</call>", "0:f {\"a\": 1} end"},
    {"object", false, "<call>{\"name\": \"f\", \"arguments\": {\"a\": \"line\nbreak\"}}</call>",
     "0:f {\"a\":\"line\\nbreak\"} end"},
    {"object", false, "<think>x</think><call>{\"name\": \"f\", \"arguments\": {}}</call>", "reasoning(x) 0:f {} end"},
    // No calls: all of it is content.
    {"object", false, "a\n<call>\nf(1)</call> b", "content(a\n<call>\nf(1)</call> b)"},
    {"object", false, "<call>{\"other\": 1}</call>", "content(<call>{\"other\": 1}</call>)"},
    {"object", false, "<call>[]", "content(<call>[])"},
    {"object", false, "<call>", "content(<call>)"},
    {"object", false, "<call>{\"name\": \"f\"", "0:f"},
    {"object", false, "<call>{\"name\": \"f", "content(<call>{\"name\": \"f)"},
    // A call that breaks off.
    {"object", false, "<call>{\"name\": \"f\", \"arguments\": {\"a\": 1 2}}</call> b",
     "0:f {\"a\":1 content(2}}</call> b)"},
    {"object", false, "<call>{\"name\": \"f\", \"arguments\": {\"a\": 12", "0:f {\"a\":12"},
    {"list", false,
     "<calls>[{\"id\": \"1\", \"arguments\": {\"a\": {}}, \"tool\": \"f\"},\n{\"tool\": \"g\", \"arguments\": {}}\n]"
     "</calls>\nDone",
     "0:f {\"a\":{}} end 1:g {} end content(\nDone)"},
    {"list", false, "<calls>[{\"tool\": \"f\"}]", "0:f {} end"},
    {"list", false, "<calls>[]</calls>", "content(<calls>[]</calls>)"},
    {"named", false, "<calls><call>f:0<args>{\"a\": true}</call>\n<call>g:1<args>{}</call></calls>",
     "0:f {\"a\":true} end 1:g {} end"},
    {"named", false, "<calls><call>f:0<args>{\"a\": tru}</call>", "0:f {\"a\": content( tru}</call>)"},
    {"named", false, "<calls><call>f:0<args>[1]</call>", "0:f content([1]</call>)"},
    {"tagged", false, "<call=f>\n<key=t>\n12\n</key>\n<key=n>\n12\n</key>\n<key=e>1</key></call>",
     "0:f {\"t\":\"12\",\"n\":12,\"e\":\"1\"} end"},
    {"tagged", false, "<call=f>\n<key=t>\n\n a\"\\\n<b></ke\n\n</key>\n</call>",
     "0:f {\"t\":\"\\n a\\\"\\\\\\n<b></ke\\n\"} end"},
    {"tagged", false, "<call=f><key=o>null</key><key=u>[1, 'x', True]</key><key=u>so so</key></call>",
     "0:f {\"o\":null,\"u\":[1,\"x\",true],\"u\":\"so so\"} end"},
    {"tagged", false, "<call=f>\n</call>\n<call=g></call>x", "0:f {} end 1:g {} end content(x)"},
    {"tagged", false, "<call=f>\n<key=t>\nabc", "0:f {\"t\":\"abc"},
    {"tagged", false, "<call=f>\n<key=n>\n12", "0:f"},
    {"tagged", false, "<call=f>x</call>", "0:f content(x</call>)"},
    {"unclosed", false, "<call=f><key=t>1</key>\n<key=n>1</key><call=g>x",
     "0:f {\"t\":\"1\",\"n\":1} end 1:g {} end content(x)"},
    {"unclosed", false, "<call=f><key=t>1</key>", "0:f {\"t\":\"1\"} end"},
    {"unclosed", false, "<call=f><key=t>1</key><ke", "0:f {\"t\":\"1\""},
    {"function", false, "<calls>[f(a='it\\'s', b=[1, None], c={'k': True}), g()]</calls>",
     "0:f {\"a\":\"it's\",\"b\":[1,null],\"c\":{\"k\":true}} end 1:g {} end"},
    {"function", false, "<calls>[f(a=(1, 2,), b=\"\\x41\",)]</calls>", "0:f {\"a\":[1,2],\"b\":\"\\u0041\"} end"},
    {"function", false, "<calls>[f(1)]</calls>", "0:f {\"1 content()]</calls>)"},
    {"bare", false, " {\"name\": \"f\", \"parameters\": {\"a\": 1}}", "0:f {\"a\":1} end"},
    {"bare", false, "{\"answer\": 1}", "content({\"answer\": 1})"},
    {"bare", false, "So: {\"name\": \"f\"}", "content(So: {\"name\": \"f\"})"},
};

TEST(AnswerParser, TakesAnswersApart) {
  for (const Row& row : rows) {
    const auto pieces =
        take_apart(AnswerParser(test_format(row.format), row.begins_in_thought, true, typed_tools()), {row.text});
    EXPECT_EQ(shown(pieces), row.pieces) << row.format << ": " << row.text;
  }
}

TEST(AnswerParser, TellsTheSameWhereverATextIsCut) {
  for (const Row& row : rows) {
    const CallFormat format = test_format(row.format);
    const auto parser = [&] { return AnswerParser(format, row.begins_in_thought, true, typed_tools()); };
    const auto whole = take_apart(parser(), {row.text});
    std::vector<std::string_view> bytes;
    for (std::size_t cut = 0; cut < row.text.size(); ++cut) {
      EXPECT_EQ(shown(take_apart(parser(), {row.text.substr(0, cut), row.text.substr(cut)})), shown(whole))
          << row.format << " cut at " << cut << ": " << row.text;
      bytes.push_back(row.text.substr(cut, 1));
    }
    EXPECT_EQ(shown(take_apart(parser(), bytes)), shown(whole)) << row.format << ": " << row.text;
  }
}

TEST(AnswerParser, KnowsNamesThatHoldWhatStandsBehindThem) {
  const std::vector<Tool> tools = {{.name = "mcp"}, {.name = "mcp:read"}, {.name = "mcp:1"}, {.name = "mcp:read:all"}};
  for (const std::string name : {"mcp", "mcp:read", "mcp:1", "mcp:read:all", "other"}) {
    for (const std::string_view index : {":0", ":1", ":17", " :1"}) {
      const std::string text = "<calls><call>" + name + std::string(index) + "<args>{}</call></calls>";
      std::vector<std::string_view> bytes;
      for (std::size_t at = 0; at < text.size(); ++at) bytes.push_back(std::string_view(text).substr(at, 1));
      for (const auto& parts : {std::vector<std::string_view>{text}, bytes}) {
        const auto pieces = take_apart(AnswerParser(test_format("named"), false, true, tools), parts);
        EXPECT_EQ(shown(pieces), "0:" + name + " {} end") << text;
      }
    }
  }
}

TEST(AnswerParser, LeavesCallsAloneWhereNoneAreAskedFor) {
  const auto pieces = take_apart(AnswerParser(test_format("object"), false, false), {"<call>{\"name\": \"f\"}</call>"});
  EXPECT_EQ(shown(pieces), "content(<call>{\"name\": \"f\"}</call>)");
}

TEST(AnswerParser, TellsArgumentsWhileTheyCome) {
  AnswerParser parser(test_format("object"), false, true);
  join(*std::make_unique<std::vector<AnswerPiece>>(),
       parser.take("<call>{\"name\": \"f\", \"arguments\": {\"a\": \"on"));
  EXPECT_EQ(shown(parser.take("ce upon")), "ce upon");
  EXPECT_EQ(shown(parser.take(" a time\\")), " a time");
  EXPECT_EQ(shown(parser.take("n")), "\\n");
  EXPECT_EQ(parser.call_count(), 1u);
  EXPECT_EQ(parser.complete_call_count(), 0u);
  AnswerParser tags(test_format("tagged"), false, true, typed_tools());
  EXPECT_EQ(shown(tags.take("<call=f><key=t>\nonce</k")), "0:f {\"t\":\"once");
  EXPECT_EQ(shown(tags.take("i")), "</ki");
}

}  // namespace
}  // namespace ingot::calls
