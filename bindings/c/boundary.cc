#include "bindings/c/boundary.h"

#include <algorithm>

#include "base/utf8.h"

namespace ingot::c {
namespace {

ingot_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return INGOT_INVALID_ARGUMENT;
    case ErrorCode::out_of_range: return INGOT_OUT_OF_RANGE;
    case ErrorCode::overflow: return INGOT_OVERFLOW;
    case ErrorCode::unsupported: return INGOT_UNSUPPORTED;
    case ErrorCode::not_found: return INGOT_NOT_FOUND;
    case ErrorCode::out_of_memory: return INGOT_OUT_OF_MEMORY;
    case ErrorCode::input_output: return INGOT_INPUT_OUTPUT;
    case ErrorCode::corrupt: return INGOT_CORRUPT;
    case ErrorCode::denied: return INGOT_DENIED;
    case ErrorCode::would_block: return INGOT_BUSY;
  }
  return INGOT_INTERNAL;
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::model: return "an open model";
    case Kind::session: return "an open session";
    case Kind::sampler: return "an open sampler";
    case Kind::text: return "a text";
  }
  return "a handle";
}

// Of the last character, whole or not.
std::size_t first_byte_of_last(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 && continues_character(text[begin])) --begin;
  return begin;
}

}  // namespace

static_assert(Error::text_capacity < INGOT_ERROR_TEXT);

ingot_status tell(ingot_error* error, ingot_status status, std::string_view text) noexcept {
  if (error == nullptr) return status;
  // A text that was too long is cut, and may be so within a character.
  std::size_t size = std::min(text.size(), sizeof(error->text) - 1);
  if (size > 0) {
    const std::size_t last = first_byte_of_last(text.substr(0, size));
    if (incomplete_sequence_size(text.substr(0, size), last) > 0) size = last;
  }
  error->status = status;
  std::memcpy(error->text, text.data(), size);
  error->text[size] = 0;
  return status;
}

ingot_status tell(ingot_error* error, const Result<void>& result) noexcept {
  if (result.ok()) return tell(error, INGOT_OK, "");
  return tell(error, status_of(result.error().code()), result.error().text());
}

ingot_status tell_bad_handle(ingot_error* error, Kind kind) noexcept {
  FixedText<Error::text_capacity> text;
  text.append_all("expected ", name_of(kind), ", found a handle that is null, closed, or of another kind");
  return tell(error, INGOT_BAD_HANDLE, text.view());
}

Result<void> require_somewhere(const void* place, std::string_view what) {
  if (place != nullptr) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a place for ", what, ", found null");
}

Result<void> require_sequence(Session& session, std::int32_t sequence) {
  if (session.sequences().has(sequence)) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a sequence that exists, found ", sequence);
}

Result<std::string_view> text_at(const char* text, std::size_t size, std::string_view what) {
  if (size > most_bytes) {
    return Error::of(ErrorCode::out_of_range, "expected ", what, " of at most 2^30 bytes, found ", size);
  }
  if (text == nullptr && size > 0) return Error::of(ErrorCode::invalid_argument, "expected ", what, ", found null");
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

Result<std::string_view> text_at(const char* text, std::string_view what) {
  if (text == nullptr) return Error::of(ErrorCode::invalid_argument, "expected ", what, ", found null");
  return text_at(text, std::strlen(text), what);
}

Result<std::span<const std::int32_t>> tokens_at(const std::int32_t* tokens, std::size_t count) {
  if (count > most_tokens) {
    return Error::of(ErrorCode::out_of_range, "expected at most 2^30 tokens, found ", count);
  }
  if (tokens == nullptr && count > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected ", count, " tokens, found null");
  }
  return std::span(tokens, count);
}

void give_text(ingot_text** place, std::string text) {
  if (place != nullptr) *place = give_out<ingot_text>(std::make_shared<const std::string>(std::move(text)));
}

Result<void> check_options_size(std::size_t size, std::size_t known) {
  // No field lies across a multiple of 8, so none is ever known in part.
  if (size >= sizeof(std::size_t) && size <= known && size % sizeof(std::size_t) == 0) return {};
  return Error::of(ErrorCode::invalid_argument, "expected options whose size is ", sizeof(std::size_t), " to ", known,
                   " bytes, in eights, found ", size, ": begin with their INGOT_..._OPTIONS");
}

}  // namespace ingot::c
