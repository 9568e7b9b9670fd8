#include "server/protocol/answer_shape.h"

#include "server/protocol/generation_request.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {
namespace {

using Kind = grammar::GrammarSource::Kind;

struct ReadShape {
  std::optional<AnswerShape> shape;
  std::string refused;  // the field, and why
};

ReadShape shape_of(const std::string& fields) {
  const chat::Dictionary body = json_object("{" + fields + "}");
  FieldReader reader(body);
  GenerationRequest request;
  read_generation_fields(reader, test_model, request);
  const Outcome<void> read = reader.finish();
  return {std::move(request.shape), read.ok() ? "" : read.error().param + ": " + read.error().message};
}

void expect_shape(const std::string& fields, std::string_view field, Kind kind, std::string_view text) {
  const ReadShape read = shape_of(fields);
  ASSERT_TRUE(read.shape && read.refused.empty()) << fields << " " << read.refused;
  EXPECT_EQ(read.shape->field, field) << fields;
  EXPECT_EQ(read.shape->source.kind, kind) << fields;
  EXPECT_EQ(read.shape->source.text, text) << fields;
}

TEST(AnswerShape, IsASchemaInEveryFieldThatHasOne) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"null"}}})",
       "response_format.json_schema.schema"},
      {R"("response_format":{"type":"json_schema","json_schema":{"description":"d","schema":{"type":"null"}}})",
       "response_format.json_schema.schema"},
      {R"("response_format":{"type":"json_schema","name":"n","strict":false,"schema":{"type":"null"}})",
       "response_format.schema"},
      {R"("response_format":{"type":"json_object","schema":{"type":"null"}})", "response_format.schema"},
      {R"("json_schema":{"type":"null"})", "json_schema"},
      {R"("guided_json":{"type":"null"})", "guided_json"},
      {R"("guided_json":"{\"type\":\"null\"}")", "guided_json"},
      {R"("structured_outputs":{"json":{"type":"null"}})", "structured_outputs.json"},
  };
  for (const auto& [fields, field] : cases) expect_shape(fields, field, Kind::json_schema, R"({"type":"null"})");
}

TEST(AnswerShape, HasTheNumbersOfASchemaAsTheyAreWritten) {
  constexpr std::string_view schema = R"({"minimum":0.30000000000000001,"maximum":0.5})";
  for (const char* field : {"json_schema", "guided_json"}) {
    expect_shape("\"" + std::string(field) + "\":" + std::string(schema), field, Kind::json_schema, schema);
  }
  expect_shape(R"("guided_json":"{\"minimum\":0.30000000000000001,\"maximum\":0.5}")", "guided_json", Kind::json_schema,
               schema);
}

TEST(AnswerShape, IsAnyObjectInJsonMode) {
  constexpr const char* object = R"({"type":"object"})";
  expect_shape(R"("response_format":{"type":"json_object"})", "response_format", Kind::json_schema, object);
  expect_shape(R"("structured_outputs":{"json_object":true})", "structured_outputs.json_object", Kind::json_schema,
               object);
}

TEST(AnswerShape, IsAGrammarARegularExpressionOrOneOfSeveralTexts) {
  expect_shape(R"("grammar":"root ::= \"x\"")", "grammar", Kind::gbnf, "root ::= \"x\"");
  expect_shape(R"("guided_grammar":"root ::= \"x\"")", "guided_grammar", Kind::gbnf, "root ::= \"x\"");
  expect_shape(R"("guided_regex":"a+")", "guided_regex", Kind::regular_expression, "a+");
  expect_shape(R"("structured_outputs":{"regex":"a+"})", "structured_outputs.regex", Kind::regular_expression, "a+");
  const ReadShape read = shape_of(R"("guided_choice":["yes","no"])");
  ASSERT_TRUE(read.shape);
  EXPECT_EQ(read.shape->source.kind, Kind::choices);
  EXPECT_EQ(read.shape->source.choices, (std::vector<std::string>{"yes", "no"}));
}

TEST(AnswerShape, HasNoWhiteSpaceWhereNoneIsWanted) {
  EXPECT_GT(shape_of(R"("structured_outputs":{"json":true})").shape->source.json.most_white_space, 0u);
  EXPECT_EQ(shape_of(R"("structured_outputs":{"json":true,"disable_any_whitespace":true})")
                .shape->source.json.most_white_space,
            0u);
}

TEST(AnswerShape, IsNoneWhereNoneIsAskedFor) {
  for (const char* fields : {R"("response_format":{"type":"text"})", R"("response_format":null)", R"("grammar":"")",
                             R"("structured_outputs":{})", R"("structured_outputs":{"json_object":false})"}) {
    const ReadShape read = shape_of(fields);
    EXPECT_FALSE(read.shape) << fields;
    EXPECT_EQ(read.refused, "") << fields;
  }
}

TEST(AnswerShape, IsRefusedByNameWhereItCannotBeRead) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("response_format":{})", "response_format.type"},
      {R"("response_format":"json_object")", "response_format"},
      {R"("response_format":{"type":"xml"})", "response_format"},
      {R"("response_format":{"type":"json_schema"})", "response_format.schema"},
      {R"("response_format":{"type":"json_schema","json_schema":{"name":"n"}})", "response_format.json_schema.schema"},
      {R"("response_format":{"type":"json_schema","json_schema":{"schema":[]}})", "response_format.json_schema.schema"},
      {R"("response_format":{"type":"json_schema","json_schema":{"schema":true,"odd":1}})",
       "response_format.json_schema.odd"},
      {R"("response_format":{"type":"text","schema":true})", "response_format.schema"},
      {R"("json_schema":"x")", "json_schema"},
      {R"("grammar":5)", "grammar"},
      {R"("guided_regex":["a"])", "guided_regex"},
      {R"("guided_choice":[])", "guided_choice"},
      {R"("guided_choice":["a",1])", "guided_choice"},
      {R"("structured_outputs":{"structural_tag":"x"})", "structured_outputs.structural_tag"},
      {R"("structured_outputs":{"whitespace_pattern":" "})", "structured_outputs.whitespace_pattern"},
      {R"("structured_outputs":[])", "structured_outputs"},
  };
  for (const auto& [fields, field] : cases) {
    const ReadShape read = shape_of(fields);
    EXPECT_TRUE(read.refused.starts_with(std::string(field) + ": ")) << fields << " " << read.refused;
  }
}

TEST(AnswerShape, TwoAreRefusedByBothNames) {
  const ReadShape read = shape_of(R"("grammar":"root ::= \"x\"","json_schema":{})");
  EXPECT_NE(read.refused.find("json_schema"), std::string::npos) << read.refused;
  EXPECT_NE(read.refused.find("grammar"), std::string::npos) << read.refused;
  EXPECT_NE(shape_of(R"("structured_outputs":{"regex":"a","choice":["b"]})").refused, "");
}

}  // namespace
}  // namespace ingot::protocol
