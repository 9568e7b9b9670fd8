// Models in formats that Ingot does not run, written as GGUF files that it
// does.
#pragma once

#include <string>

#include "base/result.h"

namespace ingot {

// A checkpoint of llama2.c with its vocabulary.
Result<void> import_llama2c(const std::string& model_path, const std::string& vocabulary_path,
                            const std::string& output_path);

}  // namespace ingot
