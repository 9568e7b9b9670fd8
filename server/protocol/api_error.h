// What a client is told when its request cannot be answered, in OpenAI's form, and Outcome: a value or such an error.
//
// Its texts are as long as they must be: an error that lists the models does not fit base/error.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"

namespace ingot::protocol {

// What did not fit: llama-server's clients read the numbers from the error.
struct ContextExcess {
  std::int64_t prompt_tokens = 0;
  std::int64_t context = 0;
};

struct ApiError {
  int status = 500;
  std::string message = {};
  std::string type = {};
  std::string param = {};  // the field that is to blame; empty: null
  std::string code = {};   // empty: null
  std::optional<int> retry_after_seconds = {};
  std::optional<ContextExcess> excess = {};

  // {"error":{"message":...,"type":...,"param":...,"code":...}}
  std::string json() const;
  // The same as the last event of a stream but for its end.
  std::string event() const;
};

// --- by what happened ---

// 400: a field is not as it should be. `message` says what was expected and what was found.
ApiError wrong_field(std::string param, std::string message);
// `what` of it was counted.
ApiError too_many(const std::string& param, std::size_t most, std::string_view what, std::size_t found);
// 400: understood, and not done yet. `what` names it: "tools", "response_format of type 'json_object'".
ApiError not_served_yet(std::string param, std::string_view what);
// 400: the body is no JSON.
ApiError wrong_body(std::string message);
// 400: prompt and answer are longer than the context. `most_tokens` is how many were asked for.
ApiError context_length_exceeded(std::int64_t prompt_tokens, std::int64_t most_tokens, std::int64_t context);
// 400: the same of a text that has no answer.
ApiError input_too_large(std::int64_t tokens, std::int64_t context);
// 400: the model's chat template cannot render these messages.
ApiError wrong_template(std::string_view reason);
// 400: there is none.
ApiError no_template(std::string_view model);

ApiError wrong_key(bool has_key);                                                     // 401: the request carries one
ApiError forbidden(std::string message);                                              // 403
ApiError unknown_path(std::string_view path);                                         // 404
ApiError unknown_model(std::string_view asked, std::span<const std::string> served);  // 404, lists the models
ApiError wrong_method(std::string_view method, std::string_view path, std::string_view allowed);  // 405
ApiError wrong_content_type(std::string_view found);                                              // 415

ApiError queue_full(int retry_after_seconds);                                       // 429
ApiError unavailable(std::string message, std::optional<int> retry_after_seconds);  // 503: loading, draining, no memory
ApiError request_cancelled();                                                       // 503
ApiError deadline_passed(double seconds);                                           // 504: that it took so far

// What HTTP itself refuses (408, 413, 414, 431 ...), or any other status.
ApiError http_error(int status, std::string_view reason);

// What an engine's error is to a client: 400 for what was asked wrongly, 429 for a full queue, 503 for no memory, 500.
ApiError engine_error(const Error& error, int retry_after_seconds);

template <class Value>
class [[nodiscard]] Outcome {
 public:
  Outcome(Value value) : held_(std::in_place_index<0>, std::move(value)) {}
  Outcome(ApiError error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok(). A wrong call is a bug in the caller, so it traps.
  Value& value() & { return *checked(std::get_if<0>(&held_)); }
  const Value& value() const& { return *checked(std::get_if<0>(&held_)); }
  Value&& value() && { return std::move(*checked(std::get_if<0>(&held_))); }
  // Precondition: !ok().
  const ApiError& error() const { return *checked(std::get_if<1>(&held_)); }

 private:
  template <class Held>
  static Held* checked(Held* held) {
    if (held == nullptr) __builtin_trap();
    return held;
  }

  std::variant<Value, ApiError> held_;
};

template <>
class [[nodiscard]] Outcome<void> {
 public:
  Outcome() = default;
  Outcome(ApiError error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  void value() const {
    if (!ok()) __builtin_trap();
  }
  const ApiError& error() const {
    if (ok()) __builtin_trap();
    return *error_;
  }

 private:
  std::optional<ApiError> error_;
};

}  // namespace ingot::protocol
