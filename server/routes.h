// Which paths there are, and which methods and queries they know.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "server/protocol/error_form.h"
#include "server/query.h"

namespace ingot {

enum class Endpoint : std::uint8_t {
  nowhere,
  chat_completions,
  chat_tokens,  // how many the prompt of a chat has
  completions,
  llama_completion,  // in llama-server's own form
  responses,
  response_tokens,  // how many the prompt of one has
  messages,         // Anthropic's
  message_tokens,
  embeddings,
  models,
  model,  // /v1/models/ID
  tokenize,
  detokenize,
  apply_template,
  health,
  metrics,
  explain,
  properties,
  adapters,
  page,
};

enum class Access : std::uint8_t { with_key, open };

struct Route {
  Endpoint endpoint = Endpoint::nowhere;
  std::string_view method = {};  // GET (and then HEAD), or POST
  Access access = Access::with_key;
  std::string_view rest = {};  // of a path that goes on: a model's ID
  std::span<const QueryField> query = {};
  protocol::ErrorForm errors = protocol::ErrorForm::openai;
};

// The path must outlive the rest.
Route find_route(std::string_view path);
// As the header Allow has it.
std::string allowed_methods(const Route& route);
bool takes_method(const Route& route, std::string_view method);
// Whether what follows its question mark is the business of nobody here.
inline bool ignores_query(const Route& route) { return route.endpoint == Endpoint::page; }

}  // namespace ingot
