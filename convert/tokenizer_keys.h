// A tokenizer as the keys tokenizer.ggml.* of a GGUF file. Not every tokenizer
// can be said in them: what cannot is a note for the user, and never a silent
// difference, because what was said is read back and compared on a text.
#pragma once

#include <string>
#include <vector>

#include "model/tokenizer/tokenizer.h"

namespace ingot {

// `vocabulary` is how many tokens the model has: readers expect as many in the
// list, so that missing ones are made up. Where the keys cannot be made, none
// is added.
void add_tokenizer_keys(const Tokenizer& tokenizer, std::int64_t vocabulary, Metadata& metadata,
                        std::vector<std::string>& notes);

}  // namespace ingot
