#include "bench/serve_vs_llama_server/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/random.h"

namespace ingot::load {
namespace {

constexpr std::int64_t most_requests = 100'000;
constexpr std::int64_t most_prompt_tokens = 1 << 20;
constexpr std::int64_t intruder_generates = 4;

// Streams of random numbers that do not meet: a request's tokens stay the same when others become longer.
RandomNumbers numbers_of(std::int64_t seed, std::int64_t stream) {
  RandomNumbers mixed(static_cast<std::uint64_t>(seed));
  return RandomNumbers(mixed.next() ^ RandomNumbers(static_cast<std::uint64_t>(stream)).next());
}

constexpr std::int64_t prefix_stream = -1;
constexpr std::int64_t length_stream = -2;

void append_tokens(std::vector<std::int32_t>& prompt, RandomNumbers numbers, std::int64_t length,
                   const WorkloadOptions& options) {
  const auto ids = static_cast<std::uint64_t>(options.end_id - options.first_id);
  while (static_cast<std::int64_t>(prompt.size()) < length) {
    prompt.push_back(static_cast<std::int32_t>(options.first_id + static_cast<std::int64_t>(numbers.below(ids))));
  }
}

std::int64_t mixed_length(RandomNumbers& numbers, std::int64_t most) {
  const double share = std::exp2(-4 * numbers.uniform());
  return std::clamp<std::int64_t>(std::llround(share * static_cast<double>(most)), 1, most);
}

Result<void> check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Error::of(ErrorCode::invalid_argument, name, ": expected ", least, " to ", most, ", found ", value);
}

}  // namespace

Result<void> check(const WorkloadOptions& options) {
  TRY(check_range("--requests", options.requests, 1, most_requests));
  TRY(check_range("--prompt-tokens", options.prompt_tokens, 1, most_prompt_tokens));
  TRY(check_range("--tokens", options.tokens, 1, most_prompt_tokens));
  TRY(check_range("--shared-prefix", options.shared_prefix, 0, options.prompt_tokens));
  TRY(check_range("--intruder-tokens", options.intruder_tokens, 0, most_prompt_tokens));
  TRY(check_range("--first-id", options.first_id, 0, options.end_id - 1));
  if (!(options.rate >= 0 && options.rate <= 1e6)) {
    return Error::of(ErrorCode::invalid_argument, "--rate: expected 0 to 1000000 requests a second");
  }
  if (!(options.temperature >= 0 && options.temperature <= 2)) {
    return Error::of(ErrorCode::invalid_argument, "--temperature: expected 0 to 2");
  }
  if (options.rate > 0 && options.intruder_tokens > 0) {
    return Error::of(ErrorCode::invalid_argument, "--intruder-tokens: expected no --rate beside it");
  }
  return {};
}

std::vector<PlannedRequest> plan_requests(const WorkloadOptions& options) {
  std::vector<std::int32_t> prefix;
  append_tokens(prefix, numbers_of(options.seed, prefix_stream), options.shared_prefix, options);
  RandomNumbers lengths = numbers_of(options.seed, length_stream);
  std::vector<PlannedRequest> planned;
  double now = 0;
  for (std::int64_t number = 0; number < options.requests; ++number) {
    PlannedRequest& request = planned.emplace_back();
    if (options.rate > 0) {
      now -= std::log(1 - lengths.uniform()) / options.rate;
      request.arrival = now;
    }
    std::int64_t prompt_tokens = options.prompt_tokens;
    request.tokens = options.tokens;
    if (options.is_mixed) {
      prompt_tokens = std::max(options.shared_prefix, mixed_length(lengths, options.prompt_tokens));
      request.tokens = mixed_length(lengths, options.tokens);
    }
    request.prompt = prefix;
    append_tokens(request.prompt, numbers_of(options.seed, number), prompt_tokens, options);
  }
  if (options.intruder_tokens > 0) {
    PlannedRequest& intruder = planned.emplace_back();
    intruder.tokens = intruder_generates;
    append_tokens(intruder.prompt, numbers_of(options.seed, options.requests), options.intruder_tokens, options);
  }
  return planned;
}

std::string body_of(const PlannedRequest& request, const WorkloadOptions& options, std::int64_t number) {
  std::string body = "{\"prompt\":[";
  for (const std::int32_t token : request.prompt) {
    if (body.back() != '[') body += ',';
    body += std::to_string(token);
  }
  char temperature[32];
  std::snprintf(temperature, sizeof temperature, "%g", options.temperature);
  body += "],\"max_tokens\":" + std::to_string(request.tokens) + ",\"temperature\":" + temperature;
  // Said in full, because servers have defaults of their own.
  if (options.temperature > 0) body += ",\"top_k\":40,\"top_p\":0.95,\"min_p\":0";
  body += ",\"seed\":" + std::to_string(options.seed + number);
  body += ",\"ignore_eos\":true,\"stream\":true,\"stream_options\":{\"include_usage\":true}}";
  return body;
}

}  // namespace ingot::load
