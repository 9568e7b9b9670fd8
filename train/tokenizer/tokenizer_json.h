// A byte-level tokenizer as Hugging Face's tokenizer.json.
#pragma once

#include <string>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

// For byte-level byte-pair tokenizers whose steps are splits, such as train_tokenizer makes; an error for others.
Result<std::string> tokenizer_json(const TokenizerDescription& description);
Result<void> write_tokenizer_json(const std::string& path, const TokenizerDescription& description);

// The file, with the tokenizer_config.json beside it if there is one. The format itself does not say which token ends
// a text: without a tokenizer_config.json it is the one that by its name ends an answer.
Result<Tokenizer> open_tokenizer_json(const std::string& path);

}  // namespace ingot
