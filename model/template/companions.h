// What the other files of a Hugging Face folder say of a model, beside config.json.
#pragma once

#include "model/template/template.h"

namespace ingot {

// generation_config.json as GGUF's keys general.sampling.*: what the model's makers advise. As there, nothing is drawn
// unless do_sample says so, and then no key is set.
Result<void> translate_generation_config(const ModelFile& file, Metadata& metadata);

// 1_Pooling/config.json, of sentence-transformers. Without it the mean, as that library has it.
Result<Pooling> read_folder_pooling(const ModelFile& file);

}  // namespace ingot
