// How many tokens an answer took, and how long: `usage` as OpenAI has it, `timings` as llama-server has them.
#pragma once

#include <span>
#include <string_view>

#include "engine/generation.h"
#include "server/protocol/json_text.h"

namespace ingot::protocol {

// So far, or at its end.
struct ChoiceFigures {
  GenerationEnd end = GenerationEnd::none;
  GenerationCounts counts = {};
  GenerationTimes times = {};
};

// Choices of one prompt count it once, as OpenAI does: by the first of them.
void add_usage(JsonWriter& writer, std::span<const ChoiceFigures> choices, std::int64_t choices_of_a_prompt);
// Choices run side by side: of their times the longest counts, of their tokens all. The first token comes of the
// prompt: how fast tokens are generated is told of those behind it.
void add_timings(JsonWriter& writer, std::span<const ChoiceFigures> choices, std::int64_t choices_of_a_prompt);

// How far a prompt is read, as llama-server's `prompt_progress` has it; with the timings so far where they are asked
// for.
void add_progress(JsonWriter& writer, const PromptProgress& progress, bool tells_timings);

}  // namespace ingot::protocol
