#include "model/calls/call_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "model/calls/outside_templates.h"
#include "model/calls/test_templates.h"

namespace ingot::calls {
namespace {

TEST(CallFormat, IsReadOffTemplates) {
  for (const TestTemplate& row : test_templates) {
    EXPECT_EQ(read_test_template(row).describe(), row.describe) << row.name;
  }
}

TEST(CallFormat, IsGenericWhereATemplateWritesNoCalls) {
  const auto chat = chat::ChatTemplate::parse(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  const CallFormat format = CallFormat::read(chat.value(), {});
  EXPECT_TRUE(format.is_generic());
  EXPECT_EQ(format.is_generic_because(), "the template does not write calls");
  EXPECT_EQ(format.spelling().trigger(), "<tool_call>");
  EXPECT_FALSE(format.shows_tools());
}

TEST(CallFormat, IsGenericWhereATemplateRendersNothing) {
  for (const char* source : {"", "{{ raise_exception('never') }}", "{% for m in messages %}{{ m.role }}{% endfor %}"}) {
    const auto chat = chat::ChatTemplate::parse(source);
    EXPECT_EQ(CallFormat::read(chat.value(), {}).describe(), "generic: the template does not write an answer")
        << source;
  }
}

TEST(CallFormat, IsGenericWhereANameStandsTwice) {
  const TestTemplate row = {"",
                            "to={{ calls[0].function.name }}<call>{{ calls[0].function.name }}<args>{{ "
                            "calls[0].function.arguments|tojson }}</call>",
                            ""};
  EXPECT_EQ(read_test_template(row).is_generic_because(), "the template writes the name of a call twice");
}

TEST(CallFormat, KnowsWhetherAPromptOpensAThought) {
  const CallFormat format = test_format("object");
  EXPECT_TRUE(format.opens_thought("<|user|>\nHello<|end|>\n<|assistant|>\n<think>\n"));
  EXPECT_FALSE(format.opens_thought("<|user|>\n<think>\n<|end|>\n<|assistant|>\n"));
  EXPECT_FALSE(format.opens_thought("<think>\n\n</think>\n\n"));
}

TEST(CallFormat, NamesItsMarks) {
  EXPECT_EQ(test_format("named").marks(),
            (std::vector<std::string>{"<calls>", "</calls>", "<call>", "</call>", "<think>", "</think>", "<args>"}));
}

TEST(CallFormat, IsReadOffOutsideTemplates) {
  const auto folder = outside_template_folder();
  if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA names no folder";
  std::size_t seen = 0;
  for (const OutsideTemplate& row : outside_templates) {
    const auto chat = read_outside_template(*folder, row);
    ASSERT_TRUE(chat.ok()) << row.file << ": " << chat.error().text();
    EXPECT_EQ(CallFormat::read(chat.value(), {.bos_token = "<s>", .eos_token = "</s>"}).describe(), row.describe)
        << row.file;
    ++seen;
  }
  std::printf("call formats: %zu outside templates read\n", seen);
}

}  // namespace
}  // namespace ingot::calls
