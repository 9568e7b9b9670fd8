// What is asked of a server: a list of requests made from a seed, so that every server gets the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace ingot::load {

struct WorkloadOptions {
  std::int64_t requests = 8;
  std::int64_t prompt_tokens = 128;  // mixed: the most
  std::int64_t tokens = 128;         // to generate; mixed: the most
  std::int64_t shared_prefix = 0;    // tokens at the beginning that all prompts have in common
  bool is_mixed = false;             // lengths from a sixteenth of the most up to it, each doubling equally often
  double rate = 0;                   // requests a second, arriving as a Poisson process; 0: none has a time
  double temperature = 0;
  std::int64_t seed = 1;
  // Ids of prompts lie in [first_id, end_id): text of any vocabulary, and none of its special tokens.
  std::int64_t first_id = 1000;
  std::int64_t end_id = 30'000;
  // One request more, of this many tokens, which comes while the others run; 0: none.
  std::int64_t intruder_tokens = 0;
};

struct PlannedRequest {
  double arrival = 0;  // seconds after the beginning
  std::vector<std::int32_t> prompt = {};
  std::int64_t tokens = 0;
};

Result<void> check(const WorkloadOptions& options);

// No prompt's tail is another's; the intruder is the last. Precondition: check(options).ok().
std::vector<PlannedRequest> plan_requests(const WorkloadOptions& options);

// The body of POST /v1/completions. Streamed, to the last token whatever the model says, with its usage.
std::string body_of(const PlannedRequest& request, const WorkloadOptions& options, std::int64_t number);

}  // namespace ingot::load
