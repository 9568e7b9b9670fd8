#include "model/calls/argument_grammar.h"

#include <algorithm>

#include "model/calls/marks.h"
#include "model/calls/parameter_kind.h"
#include "model/calls/raw_text.h"
#include "model/chat/dictionary.h"
#include "model/grammar/schema/schema_writer.h"

namespace ingot::calls {

using chat::Dictionary;
using chat::Kind;
using chat::Value;
using grammar::ExpressionId;
using grammar::Expressions;
using grammar::SchemaPlace;

namespace {

// A space behind commas and colons, as templates write them, or a line's end; a model that may write more can go on
// with that for as long as it is let.
constexpr grammar::JsonSchemaOptions of_arguments{.most_white_space = 1, .closes_objects = true};

bool may_be_object(const Value& type) {
  const auto is_object = [](const Value& name) { return name.is_text() && name.bytes() == "object"; };
  return is_object(type) || (type.is_list() && std::ranges::any_of(type.items(), is_object));
}

// Arguments are an object, whether a schema says it or not, and nothing else that it may say.
Result<grammar::SchemaDocument> document_of(const Tool& tool) {
  Dictionary schema = tool.parameters.is(Kind::dictionary) ? tool.parameters.as_dictionary() : Dictionary();
  const Value* type = schema.find("type");
  if (type != nullptr && !may_be_object(*type)) {
    return Error::of(ErrorCode::unsupported, "schema, 'type': expected an object, because arguments are one");
  }
  schema.insert("type", Value::text("object"));
  // What cannot be read again would be a schema that asks nothing.
  return grammar::SchemaDocument::parse(TRY(checked_json_text(Value::dictionary(std::move(schema)))));
}

Error not_one_by_one(std::string_view keyword) {
  return Error::of(ErrorCode::unsupported, "schema, '", keyword,
                   "': expected declared properties alone, because the model's format writes arguments one by one");
}

class ArgumentWriter {
 public:
  ArgumentWriter(const grammar::SchemaDocument& document, const CallSpelling& spelling, Expressions& expressions)
      : document_(document), spelling_(spelling), expressions_(expressions), kinds_(*document.root().value) {}

  Result<ExpressionId> write() {
    const grammar::Shape shape = TRY(root_shape());
    std::vector<Item> items;
    if (!shape.objects.empty()) {
      for (const auto& property : shape.objects[0].properties) {
        const bool is_required = std::ranges::find(shape.required, property.name) != shape.required.end();
        items.push_back({TRY(write_item(property.name, property.schema)), is_required});
        TRY(expressions_.check());
      }
    }
    return spelling_.shape == CallShape::tagged ? join_tags(items) : join_arguments(items);
  }

 private:
  struct Item {
    ExpressionId expression;
    bool is_required;
  };

  Result<grammar::Shape> root_shape() {
    grammar::ShapeReader reader(document_, expressions_.budget());
    std::vector<grammar::Shape> shapes = TRY(reader.read({document_.root()}));
    if (shapes.size() != 1) return not_one_by_one("anyOf");
    grammar::Shape& shape = shapes[0];
    if ((shape.types & grammar::object_type) == 0) return not_one_by_one("type");
    if (shape.values) return not_one_by_one("enum");
    if (shape.objects.size() > 1) return not_one_by_one("allOf");
    if (!shape.objects.empty() && !shape.objects[0].patterns.empty()) return not_one_by_one("patternProperties");
    if (shape.least_properties > 0) return not_one_by_one("minProperties");
    if (shape.most_properties != grammar::unbounded) return not_one_by_one("maxProperties");
    if (!shape.names.empty()) return not_one_by_one("propertyNames");
    if (!shape.asks_declared_alone()) return not_one_by_one("not");
    for (const std::string& name : shape.required) {
      const bool is_declared =
          !shape.objects.empty() &&
          std::ranges::any_of(shape.objects[0].properties, [&](auto& one) { return one.name == name; });
      if (!is_declared) return not_one_by_one("required");
    }
    return std::move(shape);
  }

  Result<ExpressionId> write_item(const std::string& name, const SchemaPlace& schema) {
    const bool is_tagged = spelling_.shape == CallShape::tagged;
    // Names stand where marks would end them.
    const bool is_plain = !name.empty() && std::ranges::all_of(name, [](char byte) {
      return static_cast<unsigned char>(byte) > 0x20 &&
             std::string_view("\"'<>{}[](),:=\\").find(byte) == std::string_view::npos;
    });
    if (!is_plain) return grammar::error_at(schema, "properties", "a name of letters, digits and the like");
    if (!is_tagged) {
      const ExpressionId value = TRY(write_argument(name, schema));
      return expressions_.sequence({expressions_.text(name + spelling_.literal.assign), value});
    }
    const ExpressionId value = TRY(write_tagged(name, schema));
    return expressions_.sequence({expressions_.text(spelling_.key_begin + name + spelling_.key_end), value});
  }

  Result<ExpressionId> write_json(const SchemaPlace& schema) {
    grammar::SchemaWriter writer(document_, expressions_, of_arguments);
    return writer.write({schema});
  }

  Result<std::vector<grammar::Shape>> shapes_of(const SchemaPlace& schema) {
    return grammar::ShapeReader(document_, expressions_.budget()).read({schema});
  }

  Result<ExpressionId> write_texts(const std::vector<grammar::Shape>& shapes, const RawText& raw) {
    std::vector<ExpressionId> alternatives;
    for (const grammar::Shape& shape : shapes) {
      if ((shape.types & grammar::text_type) == 0) continue;
      alternatives.push_back(TRY(bounded_raw_text(expressions_, shape, raw)));
    }
    return expressions_.alternatives(alternatives);
  }

  // Behind the key's mark; with the value's.
  Result<ExpressionId> write_tagged(const std::string& name, const SchemaPlace& schema) {
    const std::string_view core = core_of(spelling_.value_end);
    const RawText raw = {.mark = core, .end = spelling_.value_end, .other = spelling_.text_begin};
    const ParameterKind kind = kinds_.of(name);
    const std::vector<grammar::Shape> shapes = TRY(shapes_of(schema));
    if (kind == ParameterKind::text) return write_texts(shapes, raw);
    const ExpressionId end = expressions_.text(spelling_.value_end);
    if (kind == ParameterKind::text_or_null) {
      const ExpressionId texts = TRY(write_texts(without_null(shapes), raw));
      const ExpressionId null = expressions_.sequence({expressions_.text("null"), end});
      return allows_null(shapes) ? expressions_.alternatives({texts, null}) : texts;
    }
    const ExpressionId json = TRY(write_json(schema));
    const ExpressionId value = expressions_.sequence({json, end});
    if (kind == ParameterKind::unknown && is_anything(shapes)) {
      return expressions_.alternatives({TRY(write_words(raw)), value});
    }
    // What might be a text and might be none has quotes where it is one.
    return value;
  }

  // A text that reads as null is one, whatever else the schema asks of texts.
  static std::vector<grammar::Shape> without_null(std::vector<grammar::Shape> shapes) {
    for (grammar::Shape& shape : shapes) {
      shape.text.patterns.push_back(
          {.text = R"(^\s*(null|None)\s*$)", .is_format = false, .pointer = {}, .is_negated = true});
    }
    return shapes;
  }

  static bool allows_null(const std::vector<grammar::Shape>& shapes) {
    return std::ranges::any_of(shapes, [](const grammar::Shape& shape) {
      return (shape.types & grammar::null_type) != 0 &&
             (!shape.values || std::ranges::any_of(*shape.values, &Value::is_none));
    });
  }

  static bool is_anything(const std::vector<grammar::Shape>& shapes) {
    return std::ranges::any_of(
        shapes, [](const grammar::Shape& shape) { return shape.types == grammar::all_types && shape.is_plain(); });
  }

  // Read as whatever they look like, and not taken for JSON that breaks off.
  Result<ExpressionId> write_words(const RawText& raw) {
    grammar::Shape words;
    words.text.patterns.push_back({.text = R"(^\s*$|^\s*[^\s"\[{])", .is_format = false, .pointer = {}});
    return bounded_raw_text(expressions_, words, raw);
  }

  Result<ExpressionId> write_argument(const std::string& name, const SchemaPlace& schema) {
    const std::string& quote = spelling_.literal.quote;
    const ParameterKind kind = kinds_.of(name);
    const bool is_text = kind == ParameterKind::text || kind == ParameterKind::text_or_null;
    if (quote.empty() || !is_text) return write_json(schema);
    const std::vector<grammar::Shape> shapes = TRY(shapes_of(schema));
    const ExpressionId text = TRY(write_texts(shapes, {.mark = quote, .end = quote}));
    const ExpressionId quoted = expressions_.sequence({expressions_.text(quote), text});
    return allows_null(shapes) ? expressions_.alternatives({quoted, expressions_.text("null")}) : quoted;
  }

  ExpressionId join_tags(const std::vector<Item>& items) {
    std::vector<ExpressionId> parts;
    for (const Item& item : items) {
      parts.push_back(item.is_required ? item.expression : expressions_.optional(item.expression));
    }
    return expressions_.sequence(parts);
  }

  // From the last to the first: what follows an argument depends on whether it is there.
  ExpressionId join_arguments(const std::vector<Item>& items) {
    const ExpressionId separator = expressions_.text(spelling_.argument_separator);
    ExpressionId behind_first = expressions_.empty();
    ExpressionId behind_none = expressions_.empty();
    for (std::size_t index = items.size(); index-- > 0;) {
      const Item& item = items[index];
      const ExpressionId alone = expressions_.sequence({item.expression, behind_first});
      const ExpressionId next = expressions_.sequence({separator, item.expression, behind_first});
      behind_none = as_rule(item.is_required ? alone : expressions_.alternatives({alone, behind_none}));
      behind_first = as_rule(item.is_required ? next : expressions_.alternatives({next, behind_first}));
    }
    return expressions_.sequence({expressions_.text(std::string_view(&spelling_.literal.open, 1)), behind_none,
                                  expressions_.text(std::string_view(&spelling_.literal.close, 1))});
  }

  ExpressionId as_rule(ExpressionId body) {
    const grammar::RuleId rule = expressions_.add_rule("arguments");
    expressions_.define(rule, body);
    return expressions_.call(rule);
  }

  const grammar::SchemaDocument& document_;
  const CallSpelling& spelling_;
  Expressions& expressions_;
  ParameterKinds kinds_;
};

}  // namespace

Result<ExpressionId> write_arguments(const Tool& tool, const CallSpelling& spelling, Expressions& expressions) {
  const grammar::SchemaDocument document = TRY(document_of(tool));
  if (spelling.shape == CallShape::object || spelling.shape == CallShape::named) {
    grammar::SchemaWriter writer(document, expressions, of_arguments);
    return writer.write({document.root()});
  }
  return ArgumentWriter(document, spelling, expressions).write();
}

}  // namespace ingot::calls
