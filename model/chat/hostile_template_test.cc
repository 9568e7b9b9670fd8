// Whatever a template says, rendering it ends soon with a text or an error.
#include <gtest/gtest.h>

#include <string>

#include "model/chat/chat_template.h"
#include "model/chat/dictionary.h"

namespace ingot::chat {
namespace {

std::string repeated(std::string_view part, int count) {
  std::string text;
  for (int index = 0; index < count; ++index) text += part;
  return text;
}

// Small enough to end within milliseconds, large enough for any chat.
constexpr Limits tight = {.steps = 40'000, .bytes = 8u << 20, .output_bytes = 1u << 20};

std::string outcome(const std::string& source, const Limits& limits = tight) {
  const auto parsed = ChatTemplate::parse(source);
  if (!parsed.ok()) return std::string(parsed.error().text());
  const auto text = parsed.value().render(Value::dictionary({}), limits);
  return text.ok() ? "rendered" : std::string(text.error().text());
}

void expect_refused(const std::string& source, std::string_view reason) {
  const std::string text = outcome(source);
  EXPECT_NE(text.find(reason), std::string::npos) << source.substr(0, 200) << " -> " << text;
}

TEST(HostileTemplate, LoopsEnd) {
  const std::string loop = "{% for a in range(100000) %}";
  expect_refused(loop + loop + loop + "{% endfor %}{% endfor %}{% endfor %}", "steps");
  expect_refused("{% for a in range(100001) %}{% endfor %}", "range of at most 100000");
  expect_refused("{% for a in range(-9223372036854775807, 9223372036854775807) %}{% endfor %}", "range of at most");
}

TEST(HostileTemplate, RecursionEnds) {
  expect_refused("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nesting and recursion");
  expect_refused(
      "{% macro f(n) %}{% for i in [1] %}{% if true %}{{ f(n) ~ 1 }}{% endif %}{% endfor %}{% endmacro %}{{ f(1) }}",
      "nesting and recursion");
  expect_refused(
      "{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ "
      "g() }}",
      "nesting and recursion");
  expect_refused("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "nesting and recursion");
  expect_refused("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "nesting and recursion");
  expect_refused(
      "{% set ns = namespace(x=[]) %}{% for i in range(100) %}{% set ns.x = [ns.x] %}{% endfor %}"
      "{% set a = namespace(x=ns) %}{% set ns.x = [[[[a]]]] %}{{ ns }}",
      "nesting and recursion");
}

TEST(HostileTemplate, DeepSourcesAreRefused) {
  for (const auto& [open, close] : {std::pair{"(", ")"},
                                    {"[", "]"},
                                    {"{1:", "}"},
                                    {"-", ""},
                                    {"not ", ""},
                                    {"x[", "]"},
                                    {"f(", ")"},
                                    {"1 if ", " else 2"},
                                    {"1|d(", ")"},
                                    {"1 is eq(", ")"}}) {
    const std::string source = "{{ " + repeated(open, 10000) + "1" + repeated(close, 10000) + " }}";
    EXPECT_NE(outcome(source).find("found more"), std::string::npos) << open << " -> " << outcome(source);
  }
  for (std::string_view chain : {"+1", "*1", "**1", " and 1", " or 1", ".a", "[0]", "()", "|upper", " if 1"}) {
    const std::string source = "{{ 1" + repeated(chain, 10000) + " }}";
    EXPECT_NE(outcome(source).find("found more"), std::string::npos) << chain << " -> " << outcome(source);
  }
  expect_refused(repeated("{% if 1 %}", 10000), "levels of nesting");
  expect_refused("{% set " + repeated("(", 10000) + "a" + repeated(")", 10000) + " = 1 %}", "levels of nesting");
  expect_refused("{{ 1" + repeated("~1", 50000) + " }}", "steps");
}

TEST(HostileTemplate, TextsAndListsStayBounded) {
  expect_refused("{{ 'x' * 1000000000000 }}", "bytes");
  expect_refused("{{ [0] * 9223372036854775807 }}", "repetition");
  expect_refused("{{ 'x' * 9223372036854775807 }}", "bytes");
  expect_refused("{{ 'x'.center(1000000000000) }}", "bytes");
  expect_refused("{{ '%1000000000d' % 1 }}", "bytes");
  expect_refused("{{ '{:1000000000}'.format(1) }}", "bytes");
  expect_refused("{{ 'x'|indent(9223372036854775807, true) }}", "bytes");
  expect_refused("{{ [1]|batch(9223372036854775807, 0)|list }}", "");
  expect_refused("{{ 'x'.expandtabs(9223372036854775807) }}{{ '\\t'.expandtabs(9223372036854775807) }}", "bytes");
  expect_refused("{{ [1]|tojson(indent=9223372036854775807) }}", "bytes");
  expect_refused("{% set ns = namespace(x='x') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
                 "bytes");
  expect_refused("{% set x = 'x' * 1000 %}{% for i in range(2000) %}{{ x }}{% endfor %}", "bytes of output");
}

// Parts that share storage: small to hold, exponential to walk.
TEST(HostileTemplate, SharedPartsAreNotWalkedForever) {
  const std::string nested =
      "{% set ns = namespace(x=(1,), y=(1,)) %}{% for i in range(60) %}{% set ns.x = (ns.x, ns.x) %}"
      "{% set ns.y = (ns.y, ns.y) %}{% endfor %}";
  for (std::string_view use : {"{{ ns.x }}", "{{ ns.x == ns.y }}", "{{ ns.x < ns.y }}", "{{ ns.x|tojson }}",
                               "{{ {ns.x: 1} }}", "{{ [ns.x]|unique|list }}", "{{ ns.x in [ns.y] }}"}) {
    EXPECT_NE(outcome(nested + std::string(use)), "rendered") << use;
  }
}

TEST(HostileTemplate, DeepValuesAreRefusedAndChainsOfObjectsLetGo) {
  expect_refused("{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}",
                 "deep inside");
  expect_refused("{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x].index %}{% endfor %}",
                 "deep inside");
  expect_refused("{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = cycler(ns.x) %}{% endfor %}",
                 "deep inside");
  const Limits wide = {.steps = 2'000'000};
  EXPECT_EQ(
      outcome("{% set ns = namespace(x=1) %}{% for i in range(20000) %}{% set ns.x = namespace(x=ns.x) %}{% endfor %}",
              wide),
      "rendered");
  EXPECT_EQ(
      outcome(
          "{% set ns = namespace(m=1) %}{% for i in range(20000) %}{% set before = ns.m %}{% macro m() %}{{ before }}"
          "{% endmacro %}{% set ns.m = m %}{% endfor %}",
          wide),
      "rendered");
  EXPECT_EQ(outcome("{% set ns = namespace(l=1) %}{% for i in range(20000) %}{% for j in [ns.l] %}{% set ns.l = loop "
                    "%}{% endfor %}"
                    "{% endfor %}{{ ns.l.index }}{{ ns.l.last }}",
                    wide),
            "rendered");
}

TEST(HostileTemplate, LongSearchesAreCharged) {
  const std::string texts = "{% set a = 'a' * 500000 %}{% set b = 'a' * 250000 ~ 'b' %}";
  for (std::string_view use : {"{{ b in a }}", "{{ a.find(b) }}", "{{ a.count(b) }}", "{{ a.split(b) }}",
                               "{{ a|replace(b, '') }}", "{{ a.partition(b) }}"}) {
    EXPECT_NE(outcome(texts + std::string(use)).find("bytes"), std::string::npos) << use;
  }
}

TEST(HostileTemplate, ArithmeticDoesNotWrap) {
  expect_refused("{{ 9223372036854775807 + 1 }}", "64 bits");
  expect_refused("{{ -9223372036854775807 - 2 }}", "64 bits");
  expect_refused("{{ 9223372036854775807 * 2 }}", "64 bits");
  expect_refused("{{ 10 ** 19 }}", "64 bits");
  expect_refused("{{ (-9223372036854775807 - 1) // -1 }}", "64 bits");
  expect_refused("{{ 9223372036854775808 }}", "64 bits");
  EXPECT_EQ(outcome("{{ (-9223372036854775807 - 1) % -1 }}{{ "
                    "'abc'[-9223372036854775807:9223372036854775807:9223372036854775807] }}"
                    "{{ range(9223372036854775800, 9223372036854775807, 3)[::9223372036854775807]|list }}{{ "
                    "[1][9223372036854775807] }}"),
            "rendered");
}

}  // namespace
}  // namespace ingot::chat
