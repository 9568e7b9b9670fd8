#include "engine/chat_prompt.h"

#include <gtest/gtest.h>

#include "model/tokenizer/test_vocabularies.h"

namespace ingot {
namespace {

chat::MarkedText rendered(const std::string& source, chat::ChatRequest request) {
  const Result<Tokenizer> tokenizer = Tokenizer::create(byte_level_example());
  const Result<chat::ChatTemplate> form = chat::ChatTemplate::parse(source);
  EXPECT_TRUE(tokenizer.ok() && form.ok());
  Result<chat::MarkedText> text = render_chat(form.value(), tokenizer.value(), std::move(request));
  EXPECT_TRUE(text.ok()) << text.error().text();
  return text.ok() ? std::move(text).value() : chat::MarkedText();
}

TEST(ChatPrompt, EndsWithWhatTheAnswerGoesOnFrom) {
  chat::ChatRequest request;
  request.messages = {chat::make_message("user", "Hi")};
  request.answer_begin = "<s>Wh";
  const chat::MarkedText text = rendered("{{ messages|length }}{% if add_generation_prompt %}>{% endif %}", request);
  EXPECT_EQ(text.bytes, "1><s>Wh");
  // It came from outside, so it spells no special token.
  ASSERT_FALSE(text.marks.is_empty());
  EXPECT_EQ(text.marks.stretches().back(), (chat::Marks::Stretch{2, 7}));
}

TEST(ChatPrompt, HasTheVariablesThatSomeTemplatesTakeFromWhoeverRenders) {
  const std::string source =
      "{{ date_string == strftime_now('%d %b %Y') }} {{ datetime[:6] == strftime_now('%b %d') }} "
      "{{ functions }}";
  EXPECT_EQ(rendered(source, {}).bytes, "True True ");
  chat::ChatRequest request;
  request.tools = chat::Value::list({chat::Value::text("<s>")});
  const chat::MarkedText text = rendered(source, request);
  EXPECT_EQ(text.bytes, "True True [\n  \"<s>\"\n]");
  EXPECT_TRUE(text.is_marked());
  request.variables = {{"functions", chat::Value::text("mine")}};
  EXPECT_EQ(rendered(source, request).bytes, "True True mine");
}

}  // namespace
}  // namespace ingot
