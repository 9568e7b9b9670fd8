#include "engine/generate_until.h"

#include <algorithm>

#include "engine/stop_text.h"

namespace ingot {

Result<StoppedGeneration> generate_until(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence,
                                         std::span<const std::int32_t> prompt, std::int64_t most_tokens,
                                         const std::vector<std::string>& stops, const ShownCallback& on_text) {
  StopText text(std::make_shared<const StopStrings>(stops));
  std::string shown;
  bool is_wanted = true;
  const auto show = [&](const std::string& piece) {
    if (!is_wanted) return;
    shown += piece;
    is_wanted = on_text(piece);
  };
  GenerationReport report =
      TRY(generate(session, tokenizer, sampler, sequence, prompt, most_tokens, [&](std::string_view piece) {
        show(text.push(piece));
        return is_wanted && !text.is_stopped();
      }));
  if (const std::string rest = text.finish(); !rest.empty()) show(rest);
  report.text = std::move(shown);
  StoppedGeneration generated{std::move(report), {}};
  if (text.is_stopped()) {
    const auto found = std::ranges::find(stops, text.stop());
    generated.stop = static_cast<std::size_t>(found - stops.begin());
  }
  return generated;
}

}  // namespace ingot
