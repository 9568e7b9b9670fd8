#include "server/protocol/answer_shape.h"

#include "server/protocol/value_text.h"

namespace ingot::protocol {

namespace {

using chat::Kind;
using chat::Value;
using grammar::GrammarSource;

constexpr std::string_view any_object = R"({"type":"object"})";

class ShapeReader {
 public:
  ShapeReader(FieldReader& reader, std::optional<AnswerShape>& shape) : reader_(reader), shape_(shape) {}

  void schema(std::string_view name) {
    if (const Value* found = reader_.value(name)) take_schema(reader_.place_of(name), *found);
  }
  // As vLLM has it, which may be spelled as a text.
  void spelled_schema(std::string_view name) {
    const Value* found = reader_.value(name);
    if (found == nullptr) return;
    if (!found->is_text()) return take_schema(reader_.place_of(name), *found);
    take(reader_.place_of(name), {.text = found->bytes()});
  }
  void text(std::string_view name, GrammarSource::Kind kind) {
    const Value* found = reader_.value(name, Kind::text);
    // llama-server's clients send an empty grammar where they want none.
    if (found == nullptr || (found->bytes().empty() && kind == GrammarSource::Kind::gbnf)) return;
    take(reader_.place_of(name), {.kind = kind, .text = found->bytes()});
  }
  void choices(std::string_view name) {
    const Value* found = reader_.value(name);
    if (found == nullptr) return;
    GrammarSource source{.kind = GrammarSource::Kind::choices};
    bool has_texts_alone = found->is(Kind::sequence) && !found->items().empty();
    for (std::size_t index = 0; has_texts_alone && index < found->items().size(); ++index) {
      const Value& item = found->items()[index];
      has_texts_alone = item.is_text();
      if (has_texts_alone) source.choices.push_back(item.bytes());
    }
    if (!has_texts_alone) return reader_.fail(name, "a list of at least one text, and nothing but texts", *found);
    take(reader_.place_of(name), std::move(source));
  }
  void any_object_where(std::string_view name) {
    bool is_wanted = false;
    reader_.read(name, is_wanted);
    if (is_wanted) take(reader_.place_of(name), {.text = std::string(any_object)});
  }
  void take_schema(const std::string& place, const Value& found) {
    if (!found.is(Kind::dictionary) && !found.is(Kind::boolean)) {
      return reader_.fail(wrong_field(place, place + ": expected a JSON Schema, found " + described(found)));
    }
    take(place, {.text = json_of(found)});
  }
  void take(const std::string& place, GrammarSource source) {
    if (reader_.has_failed()) return;
    if (shape_) {
      return reader_.fail(wrong_field(
          place, "expected one field that says how the answer looks, found " + shape_->field + " and " + place));
    }
    shape_ = AnswerShape{place, std::move(source)};
  }

 private:
  FieldReader& reader_;
  std::optional<AnswerShape>& shape_;
};

// A reader of an object inside of the body, whose first error becomes that of the whole.
template <class Read>
void read_inside(FieldReader& reader, const std::string& place, const Value& value, const Read& read) {
  if (!value.is(Kind::dictionary)) {
    return reader.fail(wrong_field(place, place + ": expected an object, found " + described(value)));
  }
  FieldReader inside(value.as_dictionary(), place);
  read(inside);
  if (const Outcome<void> done = inside.finish(); !done.ok()) reader.fail(done.error());
}

// Whether strict or not: what is asked for is enforced, or refused.
void read_named_schema(FieldReader& format, std::optional<AnswerShape>& shape) {
  std::string name, description;
  bool is_strict = true;
  format.read("name", name);
  format.read("description", description);
  format.read("strict", is_strict);
  ShapeReader(format, shape).schema("schema");
}

void read_json_schema(FieldReader& format, std::optional<AnswerShape>& shape) {
  const Value* inner = format.value("json_schema");
  const std::string place = format.place_of("json_schema");
  if (inner == nullptr) {
    read_named_schema(format, shape);
    return format.require("schema", "a JSON Schema, here or in json_schema");
  }
  read_inside(format, place, *inner, [&](FieldReader& named) {
    named.require("schema", "a JSON Schema");
    read_named_schema(named, shape);
  });
}

void read_structured_outputs(FieldReader& reader, std::optional<AnswerShape>& shape) {
  const Value* found = reader.value("structured_outputs");
  if (found == nullptr) return;
  bool has_no_white_space = false;
  read_inside(reader, "structured_outputs", *found, [&](FieldReader& options) {
    ShapeReader shapes(options, shape);
    shapes.spelled_schema("json");
    shapes.text("regex", GrammarSource::Kind::regular_expression);
    shapes.choices("choice");
    shapes.text("grammar", GrammarSource::Kind::gbnf);
    shapes.any_object_where("json_object");
    options.read("disable_any_whitespace", has_no_white_space);
    options.harmless("disable_fallback", Kind::boolean);  // there is nothing to fall back to
    for (const std::string_view name : {"whitespace_pattern", "structural_tag", "disable_additional_properties"}) {
      options.refused(name, "structured_outputs." + std::string(name));
    }
  });
  if (has_no_white_space && shape) shape->source.json.most_white_space = 0;
}

}  // namespace

void read_format(FieldReader& reader, const std::string& place, const Value& format,
                 std::optional<AnswerShape>& shape) {
  read_inside(reader, place, format, [&](FieldReader& fields) {
    std::string type;
    fields.require("type", "a type: 'text', 'json_object' or 'json_schema'");
    fields.read("type", type);
    if (fields.has_failed() || type == "text") return;
    if (type == "json_schema") return read_json_schema(fields, shape);
    if (type != "json_object") return fields.fail(not_served_yet(place, place + " of type '" + type + "'"));
    // llama-server's.
    ShapeReader shapes(fields, shape);
    const bool had_shape = shape.has_value();
    shapes.schema("schema");
    if (shape.has_value() == had_shape) shapes.take(place, {.text = std::string(any_object)});
  });
}

void read_answer_shape(FieldReader& reader, std::optional<AnswerShape>& shape) {
  if (const Value* format = reader.value("response_format")) read_format(reader, "response_format", *format, shape);
  ShapeReader shapes(reader, shape);
  shapes.schema("json_schema");
  shapes.text("grammar", GrammarSource::Kind::gbnf);
  shapes.spelled_schema("guided_json");
  shapes.text("guided_regex", GrammarSource::Kind::regular_expression);
  shapes.choices("guided_choice");
  shapes.text("guided_grammar", GrammarSource::Kind::gbnf);
  read_structured_outputs(reader, shape);
}

}  // namespace ingot::protocol
