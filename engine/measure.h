// How long a model takes: a pass step by step, and a whole generation. Wall clock, and of steps on a device the
// device's own; medians, because a neighbour only ever makes a timing longer.
#pragma once

#include <functional>

#include "engine/assumed_inputs.h"
#include "engine/session.h"
#include "profile/statistics.h"

namespace ingot {

// What is timed: a pass over `tokens` new tokens of a sequence that holds `depth` already.
struct PassRequest {
  std::int64_t tokens = 1;
  std::int64_t depth = 0;

  PassShape shape(const ModelFacts& facts) const;
};

struct PassTiming {
  std::vector<double> step_seconds;  // of each step of the plan
  Summary pass_seconds;              // of all of Session::forward
  double accounted = 0;              // the steps' share of it
};

// Times the pass `repeats` times after one that is not counted. The session is left without sequences of its own. Fails
// where the request does not fit the session's context or its chunk.
Result<PassTiming> measure_pass(Session& session, const PassRequest& request, int repeats);

// Bytes that a pass must fetch from memory, because nothing keeps them in a cache from one pass to the next.
struct Traffic {
  double weights = 0;
  double cache = 0;  // keys, values and recurrent states

  double bytes() const { return weights + cache; }
};

Traffic traffic_of(const AssumedInputs& inputs, std::size_t step);
// Of all steps.
Traffic traffic_of(const AssumedInputs& inputs);
// What steps of the host fetch where the others are a device's.
double host_bytes_of(const AssumedInputs& inputs);

struct GenerationRequest {
  std::int64_t prompt = 128;
  std::int64_t generate = 64;  // decode steps
  std::int64_t depth = 0;      // tokens that the sequences hold before the prompt
  int batch = 1;               // sequences that advance together
  int repeats = 3;
};

struct GenerationTiming {
  Summary prefill_tokens_per_second;  // of all sequences together
  Summary decode_tokens_per_second;
  Summary first_token_seconds;
  Traffic decode_traffic;  // of a decode step halfway through
  double host_bytes = 0;   // of these, what layers fetch that stay on the host where the others are on a device
  double decode_step_seconds = 0;
};

// The most bytes this process has held; 0 where the system does not say.
std::int64_t peak_bytes();

// `advanced` is called after each repeat.
Result<GenerationTiming> measure_generation(Session& session, const GenerationRequest& request,
                                            const std::function<void()>& advanced);

// Tokens that are no text, the same every time.
std::vector<std::int32_t> arbitrary_tokens(std::int64_t count, std::int64_t vocabulary, std::uint64_t seed = 1);

}  // namespace ingot
