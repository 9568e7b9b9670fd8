// A sequence in a file: its tokens, and what a session remembers of them, so that it goes on later without computing
// them again. A safetensors file (model/files/safetensors.h) with a checksum; it appears whole or not at all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/session.h"

namespace ingot {

// `tokens`: those that the sequence holds, and behind them those that were chosen and not computed. Fails where the
// session runs on a device. Precondition: the sequence exists.
Result<void> write_sequence(Session& session, int sequence, std::span<const std::int32_t> tokens,
                            const std::string& path);

// Into a sequence that exists and is empty; its tokens, of which it holds as many as it is long. Fails where it was
// written of another model, by a session that keeps keys and values otherwise, or has changed since; then the sequence
// is empty as before.
Result<std::vector<std::int32_t>> read_sequence(Session& session, int sequence, const std::string& path);

}  // namespace ingot
