// A sequence in a file: its tokens, and what a session remembers of them, so that it goes on later without computing
// them again. A safetensors file (model/files/safetensors.h) with a checksum; it appears whole or not at all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/session.h"

namespace ingot {

// `tokens`: those that the sequence holds, and behind them those that were chosen and not computed. Fails where the
// session runs on a device.
Result<void> write_sequence(Session& session, int sequence, std::span<const std::int32_t> tokens,
                            const std::string& path);

struct ReadSequence {
  int sequence = 0;  // new, of the session
  std::vector<std::int32_t> tokens;
};

// Fails where it was written of another model, by a session that keeps keys and values otherwise, or has changed since.
Result<ReadSequence> read_sequence(Session& session, const std::string& path);

}  // namespace ingot
