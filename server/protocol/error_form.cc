#include "server/protocol/error_form.h"

#include "server/protocol/json_text.h"

namespace ingot::protocol {

namespace {

// Anthropic's words.
std::string_view type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 408:
    case 504: return "timeout_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 503: return "overloaded_error";
    default: return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

}  // namespace

std::string error_json(const ApiError& error, ErrorForm form, std::string_view request_id) {
  if (form == ErrorForm::openai) return error.json();
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("type").text("error").key("error").open_object();
  writer.key("type").text(type_of(error.status)).key("message").text(error.message).close_object();
  if (!request_id.empty()) writer.key("request_id").text(request_id);
  writer.close_object();
  return json;
}

}  // namespace ingot::protocol
