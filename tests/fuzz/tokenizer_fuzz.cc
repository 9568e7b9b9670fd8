// Any bytes as text for a small vocabulary of each kind, as a split pattern, and as the text of a tokenizer.json:
// nothing crashes, and vocabularies of bytes give back what they were given.
#include <cstdlib>
#include <string>
#include <vector>

#include "model/tokenizer/detokenizer.h"
#include "model/tokenizer/gguf_pre_tokenizer.h"
#include "model/tokenizer/pattern.h"
#include "model/tokenizer/test_vocabularies.h"
#include "model/tokenizer/tokenizer.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;

namespace {

std::vector<Tokenizer> make_tokenizers() {
  std::vector<Tokenizer> tokenizers;
  const auto add = [&](TokenizerDescription description) {
    add_special(description, "<|im_end|>");
    description.added_tokens.back().strips_left = description.added_tokens.back().strips_right = true;
    tokenizers.push_back(std::move(Tokenizer::create(std::move(description))).value());
  };
  for (const GgufPreTokenizer& entry : gguf_pre_tokenizers()) {
    TokenizerDescription description = byte_level_example();
    description.ignores_merges = entry.ignores_merges;
    description.pre_tokenizer.clear();
    for (std::string_view pattern : entry.patterns)
      description.pre_tokenizer.push_back({.pattern = std::string(pattern)});
    add(std::move(description));
  }
  add(sentence_piece_example());
  add(unigram_example());
  add(word_piece_example());
  return tokenizers;
}

void check(const Tokenizer& tokenizer, std::string_view text, bool parses_special) {
  const auto ids = tokenizer.encode(text, {.adds_special_tokens = false, .parses_special_tokens = parses_special});
  if (!ids.ok()) std::abort();
  // SentencePiece cannot tell a U+2581 of the text from a space.
  const bool is_sentence_piece = tokenizer.description().model == TokenizerModel::sentence_piece;
  const bool is_exact = tokenizer.description().is_byte_level ||
                        (is_sentence_piece && text.find("\xe2\x96\x81") == std::string_view::npos);
  if (is_exact && !parses_special && tokenizer.decode(ids.value()) != text) std::abort();
  Detokenizer detokenizer(tokenizer, {.keeps_special_tokens = true});
  std::string streamed;
  for (TokenId id : ids.value()) streamed += detokenizer.push(id);
  streamed += detokenizer.finish();
  for (std::size_t position = 0; position < streamed.size();) {
    const DecodedCharacter character = decode_utf8(streamed, position);
    if (!character.is_valid) std::abort();
    position += character.size;
  }
}

const std::vector<Tokenizer>& tokenizers_made_once() {
  static const std::vector<Tokenizer> tokenizers = make_tokenizers();
  return tokenizers;
}

}  // namespace

// Compiling every pattern takes seconds with sanitizers: it must not count as the first input's time.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  tokenizers_made_once();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<Tokenizer>& tokenizers = tokenizers_made_once();
  ByteSource source(data, size);
  const auto choice = source.take<std::uint8_t>();
  const bool parses_special = source.take<std::uint8_t>() % 2 == 1;
  std::string text;
  while (!source.empty()) text += static_cast<char>(source.take<std::uint8_t>());
  if (choice == 255) {
    auto description = describe_hugging_face_tokenizer(text, "");
    if (!description.ok()) return 0;
    const Result<Tokenizer> tokenizer = Tokenizer::create(std::move(description).value());
    if (tokenizer.ok()) (void)tokenizer.value().encode(text);
  } else if (choice >= 224) {
    const std::size_t middle = text.size() / 2;
    const Result<Pattern> pattern = Pattern::compile(std::string_view(text).substr(0, middle));
    std::vector<CodePoint> code_points;
    for (char character : text.substr(middle)) code_points.push_back(static_cast<std::uint8_t>(character));
    std::vector<TextRange> matches;
    Pattern::Scratch scratch;
    if (pattern.ok()) pattern.value().find_all(code_points, matches, scratch);
  } else {
    check(tokenizers[choice % tokenizers.size()], text, parses_special);
  }
  return 0;
}
