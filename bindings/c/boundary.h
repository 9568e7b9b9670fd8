// From C to the floors below and back: results become a status and words, nothing thrown gets out, what comes in is
// looked at before it is used.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <span>

#include "bindings/c/handles.h"

namespace ingot::c {

ingot_status tell(ingot_error* error, ingot_status status, std::string_view text) noexcept;
ingot_status tell(ingot_error* error, const Result<void>& result) noexcept;
// Says which kind of handle was expected.
ingot_status tell_bad_handle(ingot_error* error, Kind kind) noexcept;

template <class Call>
ingot_status guarded(ingot_error* error, const Call& call) noexcept {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return tell(error, INGOT_OUT_OF_MEMORY, "expected memory for what was asked, found too little");
  } catch (const std::exception& problem) {
    return tell(error, INGOT_INTERNAL, problem.what());
  } catch (...) {
    return tell(error, INGOT_INTERNAL, "expected no exception, found one of an unknown kind");
  }
}

// call() -> Result<void>, for what needs no handle.
template <class Call>
ingot_status answer(ingot_error* error, const Call& call) noexcept {
  return guarded(error, [&] { return tell(error, call()); });
}

// call(object) -> Result<void>, with what stands behind the handle.
template <class Handle, class Call>
ingot_status answer_with(const Handle* handle, ingot_error* error, const Call& call) noexcept {
  return guarded(error, [&] {
    const auto object = find(handle);
    return object == nullptr ? tell_bad_handle(error, Behind<Handle>::kind) : tell(error, call(*object));
  });
}

// The same, alone with a session.
template <class Call>
ingot_status answer_alone(ingot_session* handle, ingot_error* error, const Call& call) noexcept {
  return answer_with(handle, error, [&](SharedSession& shared) -> Result<void> {
    const SessionUser user(shared);
    TRY(user.require_alone());
    return call(*shared.session);
  });
}

Result<void> require_sequence(Session& session, std::int32_t sequence);

template <class Handle>
ingot_status close(Handle* handle) noexcept {
  if (handle == nullptr) return INGOT_OK;
  return guarded(nullptr, [&] { return take_back(handle) == nullptr ? INGOT_BAD_HANDLE : INGOT_OK; });
}

// What a function writes is nothing until it succeeds.
template <class... Values>
void clear(Values*... places) {
  const auto clear_one = [](auto* place) {
    if (place != nullptr) *place = {};
  };
  (clear_one(places), ...);
}

// Fails where there is nowhere to write `what` to.
Result<void> require_somewhere(const void* place, std::string_view what);
template <class Written>
Result<void> require_place(Written* place, std::string_view what) {
  return require_somewhere(static_cast<const void*>(place), what);
}

inline constexpr std::size_t most_bytes = std::size_t{1} << 30;   // of a text
inline constexpr std::size_t most_tokens = std::size_t{1} << 30;  // of a list

Result<std::string_view> text_at(const char* text, std::size_t size, std::string_view what);
Result<std::string_view> text_at(const char* text, std::string_view what);  // up to a zero
Result<std::span<const std::int32_t>> tokens_at(const std::int32_t* tokens, std::size_t count);

// `values` into a caller's array; *count says how many there are, also where they have no room.
template <class Value>
Result<void> write_out(std::span<const Value> values, Value* place, std::size_t capacity, std::size_t* count) {
  *count = values.size();
  if (values.size() > capacity) {
    return Error::of(ErrorCode::out_of_range, "expected room for ", values.size(), " numbers, found room for ",
                     capacity);
  }
  if (!values.empty()) TRY(require_place(place, "the numbers"));
  if (!values.empty()) std::memcpy(place, values.data(), values.size_bytes());
  return {};
}

// A text as a handle, where somebody wants it.
void give_text(ingot_text** place, std::string text);

Result<void> check_options_size(std::size_t size, std::size_t known);

// What a program knew of options when it was compiled, over the defaults.
template <class Options>
Result<Options> read_options(const Options* given, const Options& defaults) {
  Options options = defaults;
  if (given == nullptr) return options;
  TRY(check_options_size(given->size, sizeof(Options)));
  std::memcpy(&options, given, given->size);
  options.size = sizeof(Options);
  return options;
}

}  // namespace ingot::c
