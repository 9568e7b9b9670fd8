#include "server/routes.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

struct Row {
  std::string_view path;
  Endpoint endpoint;
  std::string_view method;
  Access access = Access::with_key;
  std::span<const QueryField> query = {};
  protocol::ErrorForm errors = protocol::ErrorForm::openai;
};

constexpr std::array<std::string_view, 2> map_formats = {"html", "json"};
constexpr std::array of_a_model = {QueryField{"model"}};
constexpr std::array of_a_map = {QueryField{"model"}, QueryField{"format", map_formats}};
// Clients of Anthropic's say so where they send headers that not all know.
constexpr std::array<std::string_view, 1> only_true = {"true"};
constexpr std::array of_messages = {QueryField{"beta", only_true}};

constexpr Row messages_row(std::string_view path, Endpoint endpoint) {
  return {path, endpoint, "POST", Access::with_key, of_messages, protocol::ErrorForm::anthropic};
}

// With and without /v1, as clients of others are set up. What llama-server answers in a form of its own without /v1 is
// answered so.
constexpr std::array rows = {
    Row{"/v1/chat/completions", Endpoint::chat_completions, "POST"},
    Row{"/chat/completions", Endpoint::chat_completions, "POST"},
    Row{"/v1/chat/completions/input_tokens", Endpoint::chat_tokens, "POST"},
    Row{"/chat/completions/input_tokens", Endpoint::chat_tokens, "POST"},
    Row{"/v1/completions", Endpoint::completions, "POST"},
    Row{"/completion", Endpoint::llama_completion, "POST"},
    Row{"/completions", Endpoint::llama_completion, "POST"},
    Row{"/v1/responses", Endpoint::responses, "POST"},
    Row{"/responses", Endpoint::responses, "POST"},
    Row{"/v1/responses/input_tokens", Endpoint::response_tokens, "POST"},
    Row{"/responses/input_tokens", Endpoint::response_tokens, "POST"},
    messages_row("/v1/messages", Endpoint::messages),
    messages_row("/v1/messages/count_tokens", Endpoint::message_tokens),
    Row{"/v1/embeddings", Endpoint::embeddings, "POST"},
    Row{"/embeddings", Endpoint::embeddings, "POST"},
    Row{"/v1/models", Endpoint::models, "GET"},
    Row{"/models", Endpoint::models, "GET"},
    Row{"/tokenize", Endpoint::tokenize, "POST"},
    Row{"/detokenize", Endpoint::detokenize, "POST"},
    Row{"/apply-template", Endpoint::apply_template, "POST"},
    Row{"/health", Endpoint::health, "GET", Access::open},
    Row{"/v1/health", Endpoint::health, "GET", Access::open},
    Row{"/metrics", Endpoint::metrics, "GET"},
    Row{"/explain", Endpoint::explain, "GET", Access::with_key, of_a_map},
    Row{"/props", Endpoint::properties, "GET", Access::with_key, of_a_model},
    Row{"/lora-adapters", Endpoint::adapters, "GET", Access::with_key, of_a_model},
};

constexpr std::string_view model_path = "/v1/models/";
constexpr std::string_view page_path = "/page/";

}  // namespace

Route find_route(std::string_view path) {
  const auto row = std::ranges::find(rows, path, &Row::path);
  if (row != rows.end()) return {row->endpoint, row->method, row->access, {}, row->query, row->errors};
  if (path.starts_with(model_path) && path.size() > model_path.size()) {
    return {Endpoint::model, "GET", Access::with_key, path.substr(model_path.size())};
  }
  // What the page consists of is nobody's secret; what it asks for needs the key.
  if (path == "/" || path.starts_with(page_path)) return {Endpoint::page, "GET", Access::open, {}};
  return {};
}

std::string allowed_methods(const Route& route) {
  return route.method == "GET" ? "GET, HEAD, OPTIONS" : std::string(route.method) + ", OPTIONS";
}

bool takes_method(const Route& route, std::string_view method) {
  return method == route.method || method == "OPTIONS" || (method == "HEAD" && route.method == "GET");
}

}  // namespace ingot
