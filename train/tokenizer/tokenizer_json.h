// A byte-level tokenizer as Hugging Face's tokenizer.json.
#pragma once

#include <string>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

// For byte-level byte-pair tokenizers whose steps are splits, such as train_tokenizer makes; an error for others.
Result<std::string> tokenizer_json(const TokenizerDescription& description);
Result<void> write_tokenizer_json(const std::string& path, const TokenizerDescription& description);

}  // namespace ingot
