#include "model/tokenizer/gguf_pre_tokenizer.h"

#include <algorithm>

#include "model/files/quoted.h"
#include "model/tokenizer/well_known_patterns.h"

namespace ingot {

namespace {

using Texts = std::string_view[];

// The patterns are those of the models' own tokenizer.json, shared parts written once. Code points outside ASCII are
// numbers: editors normalize text, and a normalized bound is another range.
#define CONTRACTION R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define CASED_WORD(ending)                           \
  R"([^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" ending \
  "|"                                                \
  R"([^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" ending
#define LOWER_NOT_HAN R"([\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
#define UPPER_NOT_HAN R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]])"
#define LLAMA3_WITH(numbers) CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)" numbers R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES

constexpr std::string_view llama3 = LLAMA3_WITH(R"(\p{N}{1,3})");
constexpr std::string_view qwen2 = LLAMA3_WITH(R"(\p{N})");
constexpr std::string_view any_digit = R"(\p{N})";
constexpr std::string_view lines = R"([^\n]+|[\n]+)";
constexpr std::string_view bloom = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)";
constexpr std::string_view cjk = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";
constexpr std::string_view punctuation_words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" SPACES;
constexpr std::string_view gpt4o = CASED_WORD(CONTRACTION "?") R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES;
constexpr std::string_view tekken = CASED_WORD("") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES;
constexpr std::string_view thousands = R"((?=(\d{3})+(?!\d)))";
constexpr std::string_view digits_from_right = R"(\d{1,3}(?=(?:\d{3})*\b))";

constexpr Texts only_gpt2 = {gpt2_pattern};
constexpr Texts only_llama3 = {llama3};
constexpr Texts only_qwen2 = {qwen2};
constexpr Texts only_lines = {lines};
constexpr Texts digits_then_gpt2 = {any_digit, gpt2_pattern};
constexpr Texts only_bloom = {bloom};
constexpr Texts bloom_then_digits = {bloom, any_digit};
constexpr Texts only_gpt4o = {gpt4o};
constexpr Texts only_tekken = {tekken};
constexpr Texts qwen35 = {CONTRACTION
                          R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" SPACES};
constexpr Texts jais2 = {CONTRACTION
                         R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|)"
                         R"(\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)"
                         R"(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"};
constexpr Texts deepseek_llm = {
    R"([\r\n])",
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}\x{295}-\x{2af})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1})"
    R"(\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}\x{10a0}-\x{10c5}\x{13a0}-\x{13f5})"
    R"(\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a})"
    R"(\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d}\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b})"
    R"(\x{1f5d}\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}\x{1fc6}-\x{1fcc})"
    R"(\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}\x{1ff6}-\x{1ffc}\x{2102}\x{2107})"
    R"(\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124}\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134})"
    R"(\x{2139}\x{213c}-\x{213f}\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f}\x{a771}-\x{a787})"
    R"(\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a})"
    R"(\x{10400}-\x{1044f}\x{104b0}-\x{104d3}\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2})"
    R"(\x{118a0}-\x{118df}\x{1e900}-\x{1e943}]+)",
    R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)",
    R"(\s+$)",
    cjk,
    R"(\p{N}+)"};
constexpr Texts deepseek_coder = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", cjk, any_digit};
constexpr Texts deepseek_v3 = {R"(\p{N}{1,3})", R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)",
                               punctuation_words};
constexpr Texts falcon = {R"([\p{P}\$\+<=>\^~\|`]+)", gpt2_pattern, R"([0-9][0-9][0-9])"};
constexpr Texts unnamed = {R"([\p{P}\$\+<=>\^~\|]+)", gpt2_pattern, R"(\p{N}+)", R"([0-9][0-9][0-9])"};
constexpr Texts chameleon = {R"(<sentinel:[0-9]+>)",    R"((IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z)",
                             R"(([\t\n]|    |  ))",     any_digit,
                             R"([\p{P}!-/:-@\[-`{-~])", gpt2_pattern};
constexpr Texts tiny_aya = {digits_from_right, gpt4o};
constexpr Texts kimi_k2 = {R"([\p{Han}]+|[^\r\n\p{L}\p{N}]?)" UPPER_NOT_HAN "*" LOWER_NOT_HAN "+" CONTRACTION
                           R"(?|[^\r\n\p{L}\p{N}]?)" UPPER_NOT_HAN "+" LOWER_NOT_HAN "*" CONTRACTION
                           R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACES};
constexpr Texts superbpe = {R"(\p{N}+)", thousands};
constexpr Texts bailing = {
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr Texts seed_coder = {CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" SPACES};
constexpr Texts afmoe = {
    R"(\p{N}+)", thousands,
    R"([\x{4e00}-\x{9fff}\x{3400}-\x{4dbf}\x{f900}-\x{faff}\x{3040}-\x{309f}\x{30a0}-\x{30ff}\x{ff65}-\x{ff9f})"
    R"(\x{2f00}-\x{2fdf}\x{e40}-\x{e7f}\x{e80}-\x{eff}\x{1780}-\x{17ff}\x{1000}-\x{109f}\x{aa60}-\x{aa7f})"
    R"(\x{a9e0}-\x{a9ff}\x{ac00}-\x{d7af}\x{1100}-\x{11ff}]+)",
    punctuation_words};
constexpr Texts exaone_moe = {CONTRACTION R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
                                          R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"};
constexpr Texts youtu = {
    R"([\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|[\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a})"
    R"(\x{ff1b}\x{ff0c}\x{3001}-\x{303f}\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|[\x{4e00}-\x{9fa5})"
    R"(\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)",
    CASED_WORD(CONTRACTION "?") R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACES};
constexpr Texts laguna = {lines, qwen2};
constexpr Texts minicpm5 = {R"(\p{N}{1,3})", LLAMA3_WITH(R"(\p{N}+)")};

constexpr Texts gpt2_names = {"gpt-2",      "phi-2",    "jina-es", "jina-de",         "gigachat",   "jina-v2-es",
                              "jina-v2-de", "a.x-4.0",  "mellum",  "modern-bert",     "mpt",        "olmo",
                              "jais",       "trillion", "exaone4", "granite-docling", "jina-v1-en", "jina-v2-code",
                              "roberta-bpe"};
constexpr Texts digits_names = {"starcoder", "refact", "command-r",  "smollm",
                                "codeshell", "exaone", "minerva-7b", "mellum2"};
constexpr Texts llama3_names = {"llama3",  "llama-v3", "llama-bpe", "falcon3",     "falcon-h1",
                                "pixtral", "midm-2.0", "lfm2",      "jina-v5-nano"};
constexpr Texts plain_llama3_names = {"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"};
constexpr Texts qwen2_names = {"qwen2",   "deepseek-r1-qwen", "kormo",  "f2llmv2", "stablelm2",
                               "hunyuan", "solar-open",       "megrez", "grok-2"};
constexpr Texts deepseek_v3_names = {"deepseek-v3", "hunyuan-dense", "joyai-llm"};
constexpr Texts gpt4o_names = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"};
constexpr Texts granite_names = {"granite-embed-multi-97m"};
constexpr Texts bloom_names = {"bloom", "poro-chat", "gpt3-finnish"};
constexpr Texts bailing_names = {"bailingmoe", "bailingmoe2", "llada-moe"};
constexpr Texts tiny_aya_names = {"tiny_aya", "cohere2moe"};
constexpr Texts character_names = {"gemma4", "granite-embed-multi-311m", "sarvam-moe"};
constexpr Texts qwen35_names = {"qwen35"}, jais2_names = {"jais-2"}, deepseek_llm_names = {"deepseek-llm"};
constexpr Texts deepseek_coder_names = {"deepseek-coder"}, falcon_names = {"falcon"}, unnamed_names = {"default"};
constexpr Texts viking_names = {"viking"}, tekken_names = {"tekken"}, chameleon_names = {"chameleon"};
constexpr Texts kimi_names = {"kimi-k2"}, superbpe_names = {"superbpe"}, seed_names = {"seed-coder"};
constexpr Texts afmoe_names = {"afmoe"}, exaone_moe_names = {"exaone-moe"}, youtu_names = {"youtu"};
constexpr Texts laguna_names = {"laguna"}, minicpm5_names = {"minicpm5"};

constexpr GgufPreTokenizer table[] = {
    {.names = gpt2_names, .patterns = only_gpt2},
    {.names = digits_names, .patterns = digits_then_gpt2},
    {.names = llama3_names, .patterns = only_llama3, .ignores_merges = true, .adds_bos = true},
    {.names = plain_llama3_names, .patterns = only_llama3},
    {.names = qwen2_names, .patterns = only_qwen2},
    {.names = qwen35_names, .patterns = qwen35},
    {.names = deepseek_llm_names, .patterns = deepseek_llm},
    {.names = deepseek_coder_names, .patterns = deepseek_coder},
    {.names = deepseek_v3_names, .patterns = deepseek_v3},
    {.names = falcon_names, .patterns = falcon},
    {.names = gpt4o_names, .patterns = only_gpt4o},
    {.names = granite_names, .patterns = only_gpt4o, .ignores_merges = true},
    {.names = tekken_names, .patterns = only_tekken, .ignores_merges = true, .adds_bos = true},
    {.names = bloom_names, .patterns = only_bloom},
    {.names = viking_names, .patterns = bloom_then_digits},
    {.names = kimi_names, .patterns = kimi_k2},
    {.names = bailing_names, .patterns = bailing},
    {.names = seed_names, .patterns = seed_coder},
    {.names = exaone_moe_names, .patterns = exaone_moe},
    {.names = youtu_names, .patterns = youtu, .ignores_merges = true},
    {.names = jais2_names, .patterns = jais2},
    {.names = tiny_aya_names, .patterns = tiny_aya},
    {.names = superbpe_names, .patterns = superbpe},
    {.names = afmoe_names, .patterns = afmoe},
    {.names = chameleon_names, .patterns = chameleon, .adds_bos = true},
    {.names = laguna_names, .patterns = laguna},
    {.names = minicpm5_names, .patterns = minicpm5, .ignores_merges = true},
    {.names = character_names, .patterns = only_lines, .adds_bos = true, .spells_characters = true},
    {.names = unnamed_names, .patterns = unnamed},
};

#undef CONTRACTION
#undef SPACES
#undef LOWER
#undef UPPER
#undef CASED_WORD
#undef LOWER_NOT_HAN
#undef UPPER_NOT_HAN
#undef LLAMA3_WITH

}  // namespace

std::span<const GgufPreTokenizer> gguf_pre_tokenizers() { return table; }

Result<const GgufPreTokenizer*> find_gguf_pre_tokenizer(std::string_view name) {
  for (const GgufPreTokenizer& entry : table) {
    if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end()) return &entry;
  }
  return Error::of(ErrorCode::unsupported, "tokenizer.ggml.pre: expected a known pre-tokenizer, found ", Quoted{name});
}

}  // namespace ingot
