// A model as a maker of embeddings: its output is a vector for each token, which are pooled into one for the text. Of a
// model that predicts tokens it is what the head would have scored: the last layer's output, behind the last norm.
#pragma once

#include <memory>
#include <optional>

#include "model/template/template.h"

namespace ingot {

// What a GGUF file says of pooling, by its architecture's key; nothing where it says nothing.
Result<std::optional<Pooling>> read_pooling_key(const Metadata& metadata);

// `form` with this pooling in place of its own.
std::unique_ptr<Template> as_embedder(std::unique_ptr<Template> form, Pooling pooling);

}  // namespace ingot
