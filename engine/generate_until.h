// generate(), which some texts end as well.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/generator.h"

namespace ingot {

struct StoppedGeneration {
  GenerationReport report;          // its text ends before the stop; its reason is the caller's where one came
  std::optional<std::size_t> stop;  // which of them came
};

// Called with each piece that can be shown: of a stop, and what may yet become one, nothing is. False ends it.
using ShownCallback = std::function<bool(const std::string&)>;

// Empty stops stop nothing. The sequence holds the tokens of the one that came.
Result<StoppedGeneration> generate_until(Session& session, const Tokenizer& tokenizer, Sampler& sampler, int sequence,
                                         std::span<const std::int32_t> prompt, std::int64_t most_tokens,
                                         const std::vector<std::string>& stops, const ShownCallback& on_text);

}  // namespace ingot
