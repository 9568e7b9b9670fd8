// Proof, with the model and the processor at hand, that what a sequence yields depends on nothing but itself: its
// logits have the same bits alone, among others, and however its prompt is cut into passes.
#pragma once

#include <functional>

#include "engine/session.h"

namespace ingot {

struct SequenceProofOptions {
  std::int64_t prompt = 600;  // tokens of the longest one; others are shorter
  std::int64_t generate = 8;  // that follow one by one
  // Tokens of a pass into which the prompt is cut; and sequences that go on together, each behind a prompt that was
  // read by itself. Where there are both, a prompt is also read beside sequences that go on.
  std::vector<std::int64_t> cuts = {1, 64, 512};
  std::vector<std::int64_t> batches = {2, 3, 5, 8, 9, 16, 17, 32, 33, 64};

  // The most sequences at once.
  std::int64_t sequences() const;
};

struct SequenceProofRow {
  std::string what;
  std::int64_t compared = 0;   // rows of logits
  std::int64_t different = 0;  // of them
  std::string first_difference = {};
};

// Precondition: the session has room for `prompt` + `generate` tokens of so many sequences, its chunk holds a prompt,
// and it is deterministic or on a device. `advanced` is called after each row. Fails where a pass does, and where
// logits are no numbers: those are equal to nothing.
Result<std::vector<SequenceProofRow>> prove_sequences(Session& session, const SequenceProofOptions& options,
                                                      const std::function<void()>& advanced);

}  // namespace ingot
