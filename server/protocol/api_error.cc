#include "server/protocol/api_error.h"

#include <cmath>

#include "server/protocol/json_text.h"

namespace ingot::protocol {

namespace {

constexpr std::string_view invalid_request = "invalid_request_error";

// OpenAI's words where it has one.
std::string_view type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 408:
    case 504: return "timeout_error";
    case 429: return "rate_limit_error";
    default: return status >= 500 ? "server_error" : invalid_request;
  }
}

ApiError error_of(int status, std::string message, std::string_view code = {}, std::string param = {}) {
  return {.status = status,
          .message = std::move(message),
          .type = std::string(type_of(status)),
          .param = std::move(param),
          .code = std::string(code)};
}

// OpenAI's code, and llama-server's type and numbers.
ApiError excess_error(std::string message, std::string param, ContextExcess excess) {
  ApiError error = error_of(400, std::move(message), "context_length_exceeded", std::move(param));
  error.type = "exceed_context_size_error";
  error.excess = excess;
  return error;
}

void add_text_or_null(JsonWriter& writer, std::string_view name, std::string_view value) {
  writer.key(name);
  if (value.empty()) {
    writer.null();
  } else {
    writer.text(value);
  }
}

}  // namespace

std::string ApiError::json() const {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("error").open_object();
  writer.key("message").text(message);
  writer.key("type").text(type);
  add_text_or_null(writer, "param", param);
  add_text_or_null(writer, "code", code);
  if (excess) {
    writer.key("n_prompt_tokens").number(excess->prompt_tokens).key("n_ctx").number(excess->context);
  }
  writer.close_object().close_object();
  return json;
}

std::string ApiError::event() const { return "data: " + json() + "\n\n"; }

ApiError wrong_field(std::string param, std::string message) {
  return error_of(400, std::move(message), {}, std::move(param));
}

ApiError too_many(const std::string& param, std::size_t most, std::string_view what, std::size_t found) {
  return wrong_field(param, param + ": expected at most " + std::to_string(most) + " " + std::string(what) +
                                ", found " + std::to_string(found));
}

ApiError not_served_yet(std::string param, std::string_view what) {
  return error_of(400, std::string(what) + " is not served yet: leave it out", "not_served_yet", std::move(param));
}

ApiError wrong_body(std::string message) { return error_of(400, std::move(message), "invalid_json"); }

ApiError context_length_exceeded(std::int64_t prompt_tokens, std::int64_t most_tokens, std::int64_t context) {
  // Some clients know this error by OpenAI's first words alone, some by llama-server's "exceeds ...".
  return excess_error("This model's maximum context length is " + std::to_string(context) + " tokens, found " +
                          std::to_string(prompt_tokens) + " of the prompt and " + std::to_string(most_tokens) +
                          " asked for, which exceeds the available context size: shorten the prompt or ask for fewer "
                          "tokens",
                      {}, {prompt_tokens, context});
}

ApiError input_too_large(std::int64_t tokens, std::int64_t context) {
  return excess_error("The input is too large: this model's maximum context length is " + std::to_string(context) +
                          " tokens, found " + std::to_string(tokens),
                      "input", {tokens, context});
}

ApiError wrong_template(std::string_view reason) {
  return error_of(400, "expected messages that the model's chat template renders, found: " + std::string(reason),
                  "invalid_template", "messages");
}

ApiError no_template(std::string_view model) {
  return error_of(400,
                  "expected a model with a chat template, found none in " + std::string(model) +
                      ": ask /v1/completions, or have the server started with --template",
                  "invalid_template", "model");
}

ApiError wrong_key(bool has_key) {
  return error_of(401,
                  "expected an API key that this server knows, as 'Authorization: Bearer KEY' or 'X-Api-Key: KEY', "
                  "found " +
                      std::string(has_key ? "another" : "none") + ": send one of those that it was started with",
                  "invalid_api_key");
}

ApiError forbidden(std::string message) { return error_of(403, std::move(message)); }

ApiError unknown_path(std::string_view path) {
  return error_of(404, "expected a path that is served, found '" + std::string(path) + "'", "unknown_path");
}

ApiError unknown_model(std::string_view asked, std::span<const std::string> served) {
  std::string message = "expected one of the models that are served (";
  for (const std::string& name : served) {
    if (&name != served.data()) message += ", ";
    message += name;
  }
  message += "), found '" + std::string(asked) + "'";
  return error_of(404, std::move(message), "model_not_found", "model");
}

ApiError wrong_method(std::string_view method, std::string_view path, std::string_view allowed) {
  return error_of(405,
                  "expected " + std::string(allowed) + " for " + std::string(path) + ", found " + std::string(method),
                  "method_not_allowed");
}

ApiError wrong_content_type(std::string_view found) {
  return error_of(415,
                  "expected a body of the type application/json, found '" + std::string(found) +
                      "': send JSON, with the header 'Content-Type: application/json'",
                  "unsupported_media_type");
}

ApiError queue_full(int retry_after_seconds) {
  ApiError error = error_of(
      429,
      "more requests wait than should: expected to be asked again in " + std::to_string(retry_after_seconds) + " s",
      "queue_full");
  error.retry_after_seconds = retry_after_seconds;
  return error;
}

ApiError unavailable(std::string message, std::optional<int> retry_after_seconds) {
  ApiError error = error_of(503, std::move(message), "unavailable");
  error.retry_after_seconds = retry_after_seconds;
  return error;
}

ApiError request_cancelled() { return unavailable("the request was cancelled before its end", std::nullopt); }

ApiError deadline_passed(double seconds) {
  std::string message =
      "expected an answer within the time that the server's --deadline gives a request, found none after ";
  append_number(message, std::round(seconds * 1000) / 1000);
  return error_of(504, message + " s: ask for fewer tokens, or again when fewer others ask", "deadline_exceeded");
}

ApiError http_error(int status, std::string_view reason) { return error_of(status, std::string(reason)); }

ApiError engine_error(const Error& error, int retry_after_seconds) {
  const std::string message(error.text());
  switch (error.code()) {
    case ErrorCode::would_block: return queue_full(retry_after_seconds);
    case ErrorCode::out_of_memory: return unavailable(message, retry_after_seconds);
    case ErrorCode::out_of_range: return error_of(400, message, "context_length_exceeded");
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported: return error_of(400, message);
    default: return error_of(500, message);
  }
}

}  // namespace ingot::protocol
