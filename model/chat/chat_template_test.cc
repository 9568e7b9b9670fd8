#include "model/chat/chat_template.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "model/chat/chat_context.h"
#include "model/chat/value_json.h"

namespace ingot::chat {
namespace {

constexpr std::string_view chat_markup_language =
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

TEST(ChatTemplate, RendersAChat) {
  const auto chat = ChatTemplate::parse(std::string(chat_markup_language));
  ASSERT_TRUE(chat.ok()) << chat.error().text();
  ChatRequest request;
  request.messages = {make_message("system", "Be brief."), make_message("user", "Hé?")};
  const auto text = chat.value().render(make_context(std::move(request)));
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(text.value(),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHé?<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, SeesTokensToolsTheClockAndFurtherVariables) {
  const auto chat = ChatTemplate::parse(
      "{{ bos_token }}{{ eos_token }}{{ tools|length }}{{ strftime_now('%d %b %Y') }}{{ effort }}{{ documents is "
      "defined }}");
  ASSERT_TRUE(chat.ok());
  ChatRequest request;
  request.bos_token = "<s>";
  request.eos_token = "</s>";
  request.tools = Value::list({Value()});
  request.now = LocalTime{2024, 7, 26, 12, 0, 0};
  request.variables.emplace_back("effort", Value::text("high"));
  const auto text = chat.value().render(make_context(std::move(request)));
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(text.value(), "<s></s>126 Jul 2024highFalse");
}

TEST(ChatTemplate, WantsADictionary) {
  const auto chat = ChatTemplate::parse("x");
  const auto text = chat.value().render(Value::integer(1));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().text(), "expected a dictionary of variables to render with, found int");
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One line of expected.jsonl: the template, the chat and its options, and the text or that there is none.
struct ExpectedRender {
  const Dictionary& row;

  const Value& operator[](std::string_view name) const {
    static const Value none;
    const Value* found = row.find(name);
    return found == nullptr ? none : *found;
  }
};

TEST(ChatTemplate, RendersOutsideTemplatesExactly) {
  const char* root = std::getenv("INGOT_OUTSIDE_DATA");
  if (root == nullptr) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA names no folder";
  const std::filesystem::path folder = std::filesystem::path(root) / "chat-templates";
  const auto contexts = value_from_json(read_file(folder / "contexts.json"));
  ASSERT_TRUE(contexts.ok()) << "expected contexts.json in " << folder;
  const Dictionary& shared = contexts.value().as_dictionary();
  ASSERT_NE(shared.find("convs"), nullptr);
  int passed = 0;
  int all = 0;
  std::ifstream lines(folder / "expected.jsonl");
  for (std::string line; std::getline(lines, line); ++all) {
    const auto parsed = value_from_json(line);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    const ExpectedRender expected = {parsed.value().as_dictionary()};
    ChatRequest request;
    request.messages = shared.find("convs")->as_dictionary().find(expected["conv"].bytes())->items();
    if (expected["tools"].as_boolean()) request.tools = *shared.find("tools");
    request.bos_token = shared.find("bos_token")->bytes();
    request.eos_token = shared.find("eos_token")->bytes();
    request.add_generation_prompt = expected["add_generation_prompt"].as_boolean();
    request.now = LocalTime{2024, 7, 26, 12, 0, 0};
    const std::string& name = expected["template"].bytes();
    const auto chat = ChatTemplate::parse(read_file(folder / "templates" / name));
    const auto text =
        chat.ok() ? chat.value().render(make_context(std::move(request))) : Result<std::string>(chat.error());
    const bool is_as_expected =
        expected["rendered"].is_text() ? text.ok() && text.value() == expected["rendered"].bytes() : !text.ok();
    passed += is_as_expected ? 1 : 0;
    EXPECT_TRUE(is_as_expected) << name << " " << expected["conv"].bytes() << ": "
                                << (text.ok() ? text.value() : std::string(text.error().text()));
  }
  std::printf("chat templates: %d of %d renders as expected\n", passed, all);
  EXPECT_GT(all, 0);
}

}  // namespace
}  // namespace ingot::chat
