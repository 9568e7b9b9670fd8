// The names that tokenizer.ggml.pre may have, and what each stands for.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace ingot {

struct GgufPreTokenizer {
  std::span<const std::string_view> names = {};
  std::span<const std::string_view> patterns = {};  // each splits what the one before left, matches standing alone
  bool ignores_merges = false;
  bool adds_bos = false;           // where the file does not say
  bool spells_characters = false;  // the vocabulary is of characters with U+2581 for spaces, not of bytes
};

// An error for a name that is not known.
Result<const GgufPreTokenizer*> find_gguf_pre_tokenizer(std::string_view name);
// All of them, for tests.
std::span<const GgufPreTokenizer> gguf_pre_tokenizers();

}  // namespace ingot
