#include <gtest/gtest.h>

#include <string>

#include "model/chat/chat_context.h"
#include "model/chat/chat_template.h"
#include "model/chat/function_snippets.h"
#include "model/chat/language_snippets.h"
#include "model/chat/refused_snippets.h"
#include "model/chat/value_json.h"

namespace ingot::chat {
namespace {

std::string rendered(std::string_view source, const Value& context) {
  const auto parsed = ChatTemplate::parse(std::string(source));
  if (!parsed.ok()) return "error: " + std::string(parsed.error().text());
  const auto text = parsed.value().render(context);
  return text.ok() ? text.value() : "error: " + std::string(text.error().text());
}

Value context_of_snippets() {
  const auto variables = value_from_json(snippet_context);
  EXPECT_TRUE(variables.ok());
  Dictionary context = variables.value().as_dictionary();
  context.insert("strftime_now", make_clock({2024, 7, 26, 12, 0, 0}));
  return Value::dictionary(std::move(context));
}

TEST(Language, RendersAsJinjaDoes) {
  const Value context = context_of_snippets();
  for (const Row& row : language_rows) EXPECT_EQ(rendered(row.source, context), row.expected) << row.source;
}

TEST(Language, FiltersTestsAndMethodsGiveWhatJinjaGives) {
  const Value context = context_of_snippets();
  for (const Row& row : function_rows) EXPECT_EQ(rendered(row.source, context), row.expected) << row.source;
}

TEST(Language, RefusesWhatJinjaRefuses) {
  const Value context = context_of_snippets();
  for (std::string_view source : refused_snippets) {
    const std::string text = rendered(source, context);
    EXPECT_TRUE(text.starts_with("error: line ")) << source << " -> " << text;
  }
}

TEST(Language, AnErrorNamesItsLineAndWhatWasFound) {
  const Value context = Value::dictionary({});
  EXPECT_EQ(rendered("a\nb {{ x.y }}", context), "error: line 2: expected a variable 'x', found it undefined");
  EXPECT_EQ(rendered("{% if 1 %}\n\n{{ 2 + }}", context), "error: line 3: expected an expression, found '}}'");
  EXPECT_EQ(rendered("{% for i in [1] %}\n{{ raise_exception('no ' ~ i) }}{% endfor %}", context),
            "error: line 2: no 1");
  EXPECT_EQ(rendered("{% if 1 %}", context), "error: line 1: expected {% endif %}, found the end of the template");
  EXPECT_EQ(rendered("\n{{ 1|nosuch }}", context), "error: line 2: expected the name of a filter, found 'nosuch'");
}

TEST(Language, AContextVariableHidesAFunction) {
  Dictionary context;
  context.insert("range", Value::integer(3));
  EXPECT_EQ(rendered("{{ range }}", Value::dictionary(std::move(context))), "3");
}

}  // namespace
}  // namespace ingot::chat
