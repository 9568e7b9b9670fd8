// A tokenizer from a tokenizer.json of Hugging Face's, without the model around it.
#pragma once

#include <string>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

// The file, with the tokenizer_config.json beside it if there is one. The format itself does not say which token ends
// a text: without a tokenizer_config.json it is the one that by its name ends an answer.
Result<Tokenizer> open_tokenizer_json(const std::string& path);

}  // namespace ingot
