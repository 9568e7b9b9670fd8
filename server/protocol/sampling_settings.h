// How tokens are drawn, told by the names that llama-server has for it.
#pragma once

#include <optional>

#include "engine/sampler.h"
#include "server/protocol/json_text.h"

namespace ingot::protocol {

// The fields alone. A seed of nothing is any, which is null.
void add_sampling(JsonWriter& writer, const SamplerOptions& sampling, std::optional<std::uint64_t> seed);

}  // namespace ingot::protocol
