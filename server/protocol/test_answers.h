// For tests: what generations tell, and the events of a stream.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/calls/test_templates.h"
#include "server/protocol/answer_reading.h"
#include "server/protocol/openai_answer.h"
#include "server/protocol/test_requests.h"

namespace ingot::protocol {

inline AnswerHead test_head() { return {.id = "id-1", .model = "m\"1", .fingerprint = "fp", .created = 12}; }

// Ten tokens of a prompt, six of them cached, and four generated.
inline GenerationEnding test_ending(GenerationEnd end, std::string_view text) {
  return {.end = end,
          .text = text,
          .counts = {.prompt = 10, .cached = 6, .generated = 4},
          .times = {.waiting = 1, .prompt = 0.5, .generation = 1.5}};
}

// Of the same prompt: what others had computed, and half of the rest.
inline PromptProgress test_progress() {
  return {.processed = 8, .counts = {.prompt = 10, .cached = 6}, .times = {.waiting = 1, .prompt = 0.25}};
}
inline constexpr std::string_view progress_of_test =
    R"("prompt_progress":{"total":10,"cache":6,"processed":8,"time_ms":250})";

// What the last chunk of a stream says of that.
inline std::string test_timings() {
  return R"(,"timings":{"cache_n":6,"prompt_n":4,"prompt_ms":500,"prompt_per_token_ms":125,"prompt_per_second":8,)"
         R"("predicted_n":4,"predicted_ms":1500,"predicted_per_token_ms":500,"predicted_per_second":2})";
}

// Of a model that thinks between <think> and </think>, and calls f between <call> and </call>.
inline AnswerReading test_reading() {
  const auto format = std::make_shared<calls::CallFormat>(calls::test_format("object"));
  const std::vector<calls::Tool> tools = {{.name = "f"}};
  return {.format = format, .reads_calls = true, .tools = calls::known_tools(*format, tools)};
}

// What it says then: a thought, words, and two calls, cut into tokens that end anywhere.
inline constexpr std::array<std::string_view, 6> test_thoughts_and_calls = {
    "<think>\nhm", "</think>\n\nYes.\n<ca",          "ll>\n{\"name\": \"f\", \"arguments\": {\"a\"",
    ": 1}}\n</c",  "all>\n<call>\n{\"name\": \"f\"", ", \"arguments\": {}}\n</call>"};

// The same up to within the arguments of the first call, as a stop would have it.
inline constexpr std::span<const std::string_view> test_broken_call = std::span(test_thoughts_and_calls).first(3);

struct Events {
  std::vector<chat::Value> chunks = {};
  bool is_done = false;  // [DONE] came, and last
};

inline Events events_of(std::string_view stream) {
  Events events;
  while (!stream.empty()) {
    EXPECT_FALSE(events.is_done) << stream;
    const std::size_t end = stream.find("\n\n");
    const std::string_view event = stream.substr(0, end);
    EXPECT_TRUE(end != std::string_view::npos && event.starts_with("data: ") &&
                event.find_first_of("\r\n") == std::string_view::npos);
    if (end == std::string_view::npos) break;
    stream.remove_prefix(end + 2);
    if (event == "data: [DONE]") {
      events.is_done = true;
    } else {
      events.chunks.push_back(json_value(event.substr(6)));
    }
  }
  return events;
}

}  // namespace ingot::protocol
