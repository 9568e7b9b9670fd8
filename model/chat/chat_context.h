// The variables that chat templates expect, under the names Hugging Face gives them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/chat/dictionary.h"
#include "model/chat/local_time.h"
#include "model/chat/value.h"

namespace ingot::chat {

// A message of the plain kind. Others (tool calls, images) are dictionaries: value_json.h.
Value make_message(std::string role, std::string content);

struct ChatRequest {
  std::vector<Value> messages;
  // Variables that are undefined unless given: some templates loop over tools without asking whether there are any.
  std::optional<Value> tools;
  std::optional<Value> documents;
  std::string bos_token;
  std::string eos_token;
  bool add_generation_prompt = true;
  std::string answer_begin = {};  // what the answer goes on from; stands behind all that the template writes
  // What strftime_now() prints; without it the function is undefined.
  std::optional<LocalTime> now;
  // Further variables, which win over those above.
  std::vector<std::pair<std::string, Value>> variables;
};

// Everything in messages, tools and documents is marked as theirs, but for a message's role: that is the program's
// choice, and templates build tokens of it ("<|" + role + "|>").
Value make_context(ChatRequest request);

// The same value with all of its text marked: for variables that come from outside.
Value marked(const Value& value);

// strftime_now(format) for a fixed moment.
Value make_clock(const LocalTime& now);

}  // namespace ingot::chat
