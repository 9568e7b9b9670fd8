#include "server/protocol/generation_usage.h"

#include <algorithm>
#include <cmath>

namespace ingot::protocol {

namespace {

struct Totals {
  GenerationCounts counts;
  GenerationTimes times;
  std::int64_t behind_first = 0;  // generated tokens, but for the first of each choice
};

Totals totals_of(std::span<const ChoiceFigures> choices, std::int64_t choices_of_a_prompt) {
  Totals totals;
  for (std::size_t index = 0; index < choices.size(); ++index) {
    const ChoiceFigures& choice = choices[index];
    if (static_cast<std::int64_t>(index) % choices_of_a_prompt == 0) {
      totals.counts.prompt += choice.counts.prompt;
      totals.counts.cached += choice.counts.cached;
    }
    totals.counts.generated += choice.counts.generated;
    totals.behind_first += std::max<std::int64_t>(choice.counts.generated - 1, 0);
    totals.times.prompt = std::max(totals.times.prompt, choice.times.prompt);
    totals.times.generation = std::max(totals.times.generation, choice.times.generation);
  }
  return totals;
}

// JSON has no infinity, and what took no time has no rate: llama-server's 0.
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

void add_usage(JsonWriter& writer, std::span<const ChoiceFigures> choices, std::int64_t choices_of_a_prompt) {
  const GenerationCounts counts = totals_of(choices, choices_of_a_prompt).counts;
  writer.open_object();
  writer.key("prompt_tokens").number(counts.prompt).key("completion_tokens").number(counts.generated);
  writer.key("total_tokens").number(counts.prompt + counts.generated);
  writer.key("prompt_tokens_details").open_object().key("cached_tokens").number(counts.cached).close_object();
  writer.close_object();
}

void add_timings(JsonWriter& writer, std::span<const ChoiceFigures> choices, std::int64_t choices_of_a_prompt) {
  const Totals totals = totals_of(choices, choices_of_a_prompt);
  const std::int64_t computed = totals.counts.prompt - totals.counts.cached;
  const double prompt_ms = 1e3 * totals.times.prompt;
  const double predicted_ms = 1e3 * totals.times.generation;
  const auto read = static_cast<double>(computed);
  const auto generated = static_cast<double>(totals.behind_first);
  writer.open_object();
  writer.key("cache_n").number(totals.counts.cached);
  writer.key("prompt_n").number(computed).key("prompt_ms").number(prompt_ms);
  writer.key("prompt_per_token_ms").number(ratio(prompt_ms, read));
  writer.key("prompt_per_second").number(ratio(read, totals.times.prompt));
  writer.key("predicted_n").number(totals.counts.generated).key("predicted_ms").number(predicted_ms);
  writer.key("predicted_per_token_ms").number(ratio(predicted_ms, generated));
  writer.key("predicted_per_second").number(ratio(generated, totals.times.generation));
  writer.close_object();
}

void add_progress(JsonWriter& writer, const PromptProgress& progress, bool tells_timings) {
  writer.key("prompt_progress").open_object().key("total").number(progress.counts.prompt);
  writer.key("cache").number(progress.counts.cached).key("processed").number(progress.processed);
  writer.key("time_ms").number(std::round(1e3 * progress.times.prompt)).close_object();
  if (!tells_timings) return;
  ChoiceFigures so_far{.counts = progress.counts, .times = progress.times};
  so_far.counts.prompt = progress.processed;
  add_timings(writer.key("timings"), std::span(&so_far, 1), 1);
}

}  // namespace ingot::protocol
