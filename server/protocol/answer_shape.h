// The shape that an answer must have, in all the ways in which clients ask for one: OpenAI's response_format,
// llama-server's grammar and json_schema, vLLM's structured_outputs and what it was called before (guided_json, ...).
#pragma once

#include <optional>
#include <string>

#include "model/grammar/grammar_source.h"
#include "server/protocol/field_reader.h"

namespace ingot::protocol {

struct AnswerShape {
  std::string field;  // that asks for it: "response_format.json_schema.schema"
  grammar::GrammarSource source;
};

// One of the fields may ask for a shape; two are an error that names both.
void read_answer_shape(FieldReader& reader, std::optional<AnswerShape>& shape);

// What stands in response_format, and in /v1/responses' text.format: an object with a type. A schema is in it, or in
// its json_schema.
void read_format(FieldReader& reader, const std::string& place, const chat::Value& format,
                 std::optional<AnswerShape>& shape);

}  // namespace ingot::protocol
