// From a request that was read, and the tokens of its prompts, to what the engine is asked.
#pragma once

#include "server/protocol/generation_request.h"

namespace ingot::protocol {

// That one answer holds at once: an answer in one piece all of them, a stream those of its prompts. As JSON a
// probability is up to a hundred bytes.
constexpr std::int64_t most_probabilities = 1'000'000;

// A request for each prompt. `room`: for how many tokens of prompt and answer there is some; an answer whose length the
// request does not say may fill it. `any_seed` is for where it says none. Fails where there is too little room, or too
// much would be told.
Outcome<std::vector<TextRequest>> text_requests(const GenerationRequest& request,
                                                std::vector<std::vector<std::int32_t>> prompts, std::int64_t room,
                                                std::uint64_t any_seed);

}  // namespace ingot::protocol
