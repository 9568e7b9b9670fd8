// EventReader: server-sent events out of a body in pieces. stream_event_of: what one of them says of a completion.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot::load {

class EventReader {
 public:
  // Calls `on_data` with the data of each event that is whole now. Comments and other fields are passed over.
  void take(std::string_view body, const std::function<void(std::string_view data)>& on_data);

 private:
  std::string line_;  // as far as it came
  std::string data_;  // of the event that is not whole yet
  bool has_data_ = false;
};

struct TokenUsage {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;  // of the prompt, not computed again
  std::int64_t generated = 0;
};

struct StreamEvent {
  bool has_text = false;
  bool is_last = false;  // [DONE]
  std::optional<TokenUsage> usage;
  std::string error;  // the server's own words, where it failed
};

// An error where it is neither JSON nor [DONE].
Result<StreamEvent> stream_event_of(std::string_view data);

// The message of an error's body, or the beginning of the body where it has no such form.
std::string error_message_of(std::string_view body);

}  // namespace ingot::load
