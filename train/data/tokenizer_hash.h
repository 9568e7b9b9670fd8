// One number for what the ids of a tokenizer mean, so that data and checkpoints made with another are recognised.
//
// It covers the kind of model, the tokens in their order and the merges in theirs: the same for a tokenizer just
// trained, read from tokenizer.json, or read from a GGUF file.
#pragma once

#include <cstdint>

#include "model/tokenizer/description.h"

namespace ingot {

std::uint64_t tokenizer_hash(const TokenizerDescription& description);

}  // namespace ingot
