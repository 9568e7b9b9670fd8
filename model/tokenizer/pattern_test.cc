#include "model/tokenizer/pattern.h"

#include <gtest/gtest.h>

#include <chrono>

#include "model/tokenizer/decoded_text.h"
#include "model/tokenizer/gguf_pre_tokenizer.h"
#include "model/tokenizer/pre_tokenizer.h"

namespace ingot {
namespace {

std::vector<std::string> matches(std::string_view pattern, std::string text) {
  const Result<Pattern> compiled = Pattern::compile(pattern);
  EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : std::string(compiled.error().text()));
  if (!compiled.ok()) return {};
  const DecodedText decoded(std::move(text));
  std::vector<TextRange> ranges;
  Pattern::Scratch scratch;
  compiled.value().find_all(decoded.code_points, ranges, scratch);
  std::vector<std::string> found;
  for (const TextRange& range : ranges) found.emplace_back(decoded.slice(range.begin, range.end));
  return found;
}

using Texts = std::vector<std::string>;

TEST(Pattern, LeftmostThenFirstAlternativeThenLongest) {
  EXPECT_EQ(matches("a|ab", "abab"), (Texts{"a", "a"}));
  EXPECT_EQ(matches("ab|a", "abaa"), (Texts{"ab", "a", "a"}));
  EXPECT_EQ(matches("x+", "axxbx"), (Texts{"xx", "x"}));
  EXPECT_EQ(matches("a{2}b{1,2}c{1,}", "aabbccaabc"), (Texts{"aabbcc", "aabc"}));
  EXPECT_EQ(matches("(?:ab)+c?", "ababcab"), (Texts{"ababc", "ab"}));
}

TEST(Pattern, GivesBackWhatTheRestNeeds) {
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "   x "), (Texts{"  ", " ", " "}));
  EXPECT_EQ(matches("a*ab", "aaab"), (Texts{"aaab"}));
  EXPECT_EQ(matches("a*+ab", "aaab"), Texts{}) << "possessive gives nothing back";
  EXPECT_EQ(matches(R"(\s*[\r\n]+)", " \n \n x"), (Texts{" \n \n"}));
}

TEST(Pattern, ClassesPropertiesAndCase) {
  EXPECT_EQ(matches(R"(\p{Lu}\p{Ll}+)", "Жук Zz zZ"), (Texts{"Жук", "Zz"}));
  EXPECT_EQ(matches(R"([^\s\p{L}\p{N}]+)", "a!? b1…"), (Texts{"!?", "…"}));
  EXPECT_EQ(matches(R"([\p{L}&&[^\p{Han}]]+)", "ab我c"), (Texts{"ab", "c"}));
  EXPECT_EQ(matches(R"((?i:'s|'LL))", "'S 'll 'ſ"), (Texts{"'S", "'ll", "'ſ"}));
  EXPECT_EQ(matches(R"([a\-z\]]+)", "a-]b"), (Texts{"a-]"}));
  EXPECT_EQ(matches(R"([\x{4e00}-\x{9fa5}]+|\P{L})", "我们1"), (Texts{"我们", "1"}));
  EXPECT_EQ(matches(R"(.)", "a\nb"), (Texts{"a", "b"}));
}

TEST(Pattern, Assertions) {
  EXPECT_EQ(matches(R"(\s+$)", "a  \nb "), (Texts{"  ", " "}));
  EXPECT_EQ(matches(R"(^a)", "aa\na"), (Texts{"a", "a"}));
  EXPECT_EQ(matches(R"(\Aa|a\z)", "aaa"), (Texts{"a", "a"}));
  EXPECT_EQ(matches(R"(a\b)", "aa a"), (Texts{"a", "a"}));
  EXPECT_EQ(matches(R"(a(?=b|cd))", "abacdac"), (Texts{"a", "a"}));
}

TEST(Pattern, WhatIsNotSupportedIsNamed) {
  for (std::string_view pattern : {"(?<!a)b", "a+?", "(a", "a)", "[a", "*a", R"(\p{Klingon})", R"(\q)", "(?:a*)*",
                                   "a{2,1}", "a{9999}", "(?=a+)b", "(?>a)", "a**"}) {
    const Result<Pattern> result = Pattern::compile(pattern);
    ASSERT_FALSE(result.ok()) << pattern;
    EXPECT_NE(result.error().text().find("pattern '"), std::string_view::npos) << result.error().text();
  }
  EXPECT_FALSE(Pattern::compile(std::string(100, '(') + std::string(100, ')')).ok());
  EXPECT_FALSE(Pattern::compile("((((a{1,1000}b){1,1000}c){1,1000}d){1,1000}e)").ok());
}

// Each of these takes minutes or more where work is quadratic in the text; the bounds are for sanitizers and busy
// machines.
TEST(Pattern, TimeIsLinear) {
  constexpr std::size_t size = 1 << 20;
  const auto seconds = [](std::string_view pattern, const std::string& text) {
    const auto begin = std::chrono::steady_clock::now();
    (void)matches(pattern, text);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::string spaces(size, ' ');
  const std::string letters(size, 'a');
  EXPECT_LT(seconds(R"(\s*[\r\n]+|\s{1,2}(?!\S)|\s)", spaces), 20);
  EXPECT_LT(seconds(R"(\s*\n|\s)", spaces), 20);
  EXPECT_LT(seconds("a*b|a", letters), 20);
  // A hundred thousand is enough for patterns whose constant is larger.
  const std::string fewer(1 << 17, 'a');
  EXPECT_LT(seconds("a*a*a*b|a", fewer), 20);
  EXPECT_LT(seconds("(?:a|aa)+b|a", fewer), 20);
  EXPECT_LT(seconds("(?:a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaa)+b|a", fewer), 20);
  EXPECT_LT(seconds("(?:a{1,3}){1,30}b|a", fewer), 20);
}

// Remembering failures must not change what is found: the first part of each text uses up the steps, the second is
// compared with what is found alone.
TEST(Pattern, RememberingFailuresFindsTheSame) {
  struct Case {
    std::string pattern, text;
    char costly;
  };
  const std::vector<Case> cases = {{R"(\s*\n|\s{1,2}(?!\S)|\s|x+)", "xx  \n \n   x   xx \n", ' '},
                                   {"a*b|a|c+|(?:cd)*", "aaabaacccdcdcab", 'a'},
                                   {"(?:ab?)+c|a|b", "ababcabaabcc", 'a'},
                                   {"a*+b|a*c|a", "aaacaaabaaa", 'a'},
                                   {"(?:a|ab)(?:c|bcd)d*|a+", "abcdabcaaabcdd", 'a'},
                                   // Where a match ends, the path that succeeded must not count as failed: it finds
                                   // nothing there again, and that is why the last b is no match.
                                   {"x*y|x|a?(?:bc)?|b", "ab", 'x'}};
  for (const auto& [pattern, text, costly] : cases) {
    const Texts alone = matches(pattern, text);
    const Texts both = matches(pattern, std::string(20000, costly) + "|" + text);
    ASSERT_GE(both.size(), alone.size());
    EXPECT_EQ(Texts(both.end() - static_cast<std::ptrdiff_t>(alone.size()), both.end()), alone) << pattern;
  }
}

// As Oniguruma splits it by the same patterns.
TEST(GgufPreTokenizers, EachNameSplitsInItsOwnWay) {
  const std::string text = "He'Ll  pay\t12345€ for我想camelCASE's (x).\n\n ok ";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"gpt-2", "He|'|Ll| | pay|\t|12345|€| for我想camelCASE|'s| (|x|).|\n\n| ok| "},
      {"starcoder", "He|'|Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).|\n\n| ok| "},
      {"llama3", "He|'Ll| | pay|\t|123|45|€| for我想camelCASE|'s| (|x|).\n\n| ok| "},
      {"qwen2", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).\n\n| ok| "},
      {"qwen35", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).\n\n| ok| "},
      {"deepseek-llm", "He|'|Ll| | pay|\t|12345|€| for|我想|camelCASE|'|s| (|x|).|\n|\n| ok| "},
      {"deepseek-coder", "He|'|Ll| | pay|\t|1|2|3|4|5|€| for|我想|camelCASE|'|s| (|x|).|\n|\n| ok| "},
      {"deepseek-v3", "He|'Ll| | pay|\t|123|45|€| for|我想|camelCASE|'s| (|x|).\n\n| ok| "},
      {"falcon", "He|'|Ll| | pay|\t|123|45|€| for我想camelCASE|'|s| |(|x|).|\n\n| ok| "},
      {"gpt-4o", "He'Ll| | pay|\t|123|45|€| for我想camel|CASE's| (|x|).\n\n| ok| "},
      {"tekken", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camel|CASE|'s| (|x|).\n\n| ok| "},
      {"bloom", "He'Ll| | pay|\t|12345€| for我想camelCASE's| (|x|).\n\n| ok| "},
      {"viking", "He'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE's| (|x|).\n\n| ok| "},
      {"kimi-k2", "He'Ll| | pay|\t|123|45|€| for|我想|camel|CASE's| (|x|).\n\n| ok| "},
      {"bailingmoe", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).\n\n| ok| "},
      {"seed-coder", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).|\n\n| ok| "},
      {"exaone-moe", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).\n|\n| ok| "},
      {"youtu", "He'Ll| | pay|\t|1|2|3|4|5|€| for|我想|camel|CASE's| (|x|).\n\n| ok| "},
      {"jais-2", "He|'Ll| | pay|\t|123|45|€| for我想camelCASE|'s| (|x|).\n\n| ok| "},
      {"tiny_aya", "He'Ll| | pay|\t|12|345|€| for我想camel|CASE's| (|x|).\n\n| ok| "},
      {"superbpe", "He'Ll  pay\t|12|345|€ for我想camelCASE's (x).\n\n ok "},
      {"afmoe", "He|'Ll| | pay|\t|12|345|€| for|我想|camelCASE|'s| (|x|).\n\n| ok| "},
      {"chameleon", "He|'|Ll|  |pay|\t|1|2|3|4|5|€| for我想camelCASE|'|s| |(|x|)|.|\n|\n| ok| "},
      {"laguna", "He|'Ll| | pay|\t|1|2|3|4|5|€| for我想camelCASE|'s| (|x|).|\n\n| ok| "},
      {"minicpm5", "He|'Ll| | pay|\t|123|45|€| for我想camelCASE|'s| (|x|).\n\n| ok| "},
  };
  for (const auto& [name, expected] : cases) {
    std::vector<PreTokenizerStep> steps;
    for (std::string_view pattern : find_gguf_pre_tokenizer(name).value()->patterns) {
      steps.push_back({.pattern = std::string(pattern)});
    }
    const PreTokenizedText split = PreTokenizer::create(steps).value().run(text, true);
    std::string joined;
    for (const TextRange& piece : split.pieces) {
      joined += (joined.empty() ? "" : "|") + std::string(split.text.slice(piece.begin, piece.end));
    }
    EXPECT_EQ(joined, expected) << name;
  }
}

TEST(GgufPreTokenizers, EveryOneCompilesAndLosesNothing) {
  const std::string text = "I'll pay 12345€ for  two—\r\n\n  Führer's 我想 ひらがな 한국 3.14 <b> \t🚀 e\xcc\x81 ";
  for (const GgufPreTokenizer& entry : gguf_pre_tokenizers()) {
    std::vector<PreTokenizerStep> steps;
    for (std::string_view pattern : entry.patterns) steps.push_back({.pattern = std::string(pattern)});
    const Result<PreTokenizer> splitter = PreTokenizer::create(steps);
    ASSERT_TRUE(splitter.ok()) << entry.names[0] << ": " << splitter.error().text();
    const PreTokenizedText split = splitter.value().run(text, true);
    std::string joined;
    for (const TextRange& piece : split.pieces) joined += split.text.slice(piece.begin, piece.end);
    EXPECT_EQ(joined, text) << entry.names[0];
    EXPECT_GE(split.pieces.size(), 3u) << entry.names[0];
    for (char character : {' ', 'x', '7', '\n', '!'}) {
      EXPECT_GE(splitter.value().run(std::string(1 << 17, character), true).pieces.size(), 1u);
    }
  }
  EXPECT_FALSE(find_gguf_pre_tokenizer("nobody-knows").ok());
}

}  // namespace
}  // namespace ingot
