// GET /v1/models and /v1/models/ID.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ingot::protocol {

struct ModelCard {
  std::string id = {};
  std::string parent = {};           // the model without the adapter; empty: it has none
  std::int64_t created = 0;          // seconds since 1970
  std::int64_t vocabulary = 0;       // tokens
  std::int64_t trained_context = 0;  // tokens
  std::int64_t context = 0;          // tokens that a request may have here
  std::int64_t width = 0;
  std::int64_t parameters = 0;
  std::int64_t bytes = 0;
  bool has_chat_template = false;
  bool makes_embeddings = false;
};

std::string model_answer(const ModelCard& model);
std::string model_list_answer(std::span<const ModelCard> models);

}  // namespace ingot::protocol
