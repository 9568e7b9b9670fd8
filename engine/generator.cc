#include "engine/generator.h"

#include <algorithm>
#include <chrono>

namespace ingot {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Room for what is likely to come, before it comes: then no token waits for the operating system to find memory. Where
// there are too few pages, each pass takes what it needs. Not in a ring, where room is made by forgetting.
void reserve_ahead(Session& session, int sequence, std::int64_t tokens) {
  SequenceMemory& memory = session.sequences();
  if (memory.rings().has_layers()) return;
  static_cast<void>(memory.reserve(sequence, std::min(tokens, session.context() - memory.length(sequence))));
}

}  // namespace

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::end_of_generation: return "end of generation";
    case StopReason::token_limit: return "token limit";
    case StopReason::context_full: return "context full";
    case StopReason::caller: return "stopped by the caller";
  }
  return "unknown";
}

Result<GenerationReport> generate(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence,
                                  std::span<const std::int32_t> prompt, std::int64_t most_tokens,
                                  const TextCallback& on_text) {
  GenerationReport report;
  report.prompt_tokens = static_cast<std::int64_t>(prompt.size());
  // After special tokens alone, the text begins here.
  const bool is_text_begin =
      session.sequences().length(sequence) == 0 &&
      std::all_of(prompt.begin(), prompt.end(), [&](TokenId token) { return tokenizer.is_special(token); });
  Detokenizer detokenizer(tokenizer, {.is_text_begin = is_text_begin});
  auto start = std::chrono::steady_clock::now();
  sampler.remember(prompt);
  const auto emit = [&](const std::string& text) {
    report.text += text;
    return on_text(text);
  };

  constexpr std::int64_t ahead = 256;
  reserve_ahead(session, sequence, report.prompt_tokens + ahead);
  View<const float> logits = TRY(session.forward({sequence, prompt, Wanted::last}));
  while (true) {
    Context context = session.context_for_kernels();  // a pass may have replaced its scratch
    const std::int32_t token = TRY(sampler.choose({logits.data(), static_cast<std::size_t>(logits.size(1))}, context));
    if (report.tokens.empty()) {
      report.prefill_seconds = seconds_since(start);
      start = std::chrono::steady_clock::now();
    }
    if (tokenizer.is_end_of_generation(token)) {
      report.reason = StopReason::end_of_generation;
      break;
    }
    report.tokens.push_back(token);
    if (!emit(detokenizer.push(token))) {
      report.reason = StopReason::caller;
      break;
    }
    if (static_cast<std::int64_t>(report.tokens.size()) >= most_tokens) break;
    if (session.sequences().length(sequence) >= session.context()) {
      report.reason = StopReason::context_full;
      break;
    }
    logits = TRY(session.forward({sequence, std::span(&token, 1), Wanted::last}));
  }
  report.decode_seconds = seconds_since(start);
  // What was reserved and is not used is given back: turning a sequence back to where it stands cannot fail.
  static_cast<void>(session.sequences().truncate(sequence, session.sequences().length(sequence)));
  emit(detokenizer.finish());
  return report;
}

}  // namespace ingot
