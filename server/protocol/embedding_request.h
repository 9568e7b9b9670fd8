// POST /v1/embeddings.
#pragma once

#include "server/protocol/served_model.h"
#include "server/protocol/token_input.h"

namespace ingot::protocol {

enum class VectorForm : std::uint8_t {
  numbers,  // a list
  base64,   // of floats of 32 bits, little end first
};

struct EmbeddingRequest {
  std::string model = {};  // empty: none was named
  std::vector<TokenInput> inputs = {};
  VectorForm form = VectorForm::numbers;
  std::int64_t dimensions = 0;  // what each vector is cut to; the model's width where nothing was asked for
};

Outcome<EmbeddingRequest> read_embedding_request(const chat::Dictionary& body, const ServedModel& model);

// Every field that is known, with what becomes of it.
std::vector<KnownField> fields_of_embedding_requests();

}  // namespace ingot::protocol
