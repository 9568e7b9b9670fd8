// What is counted of one model's requests, and the text that /metrics answers with. Names and meanings are vLLM's,
// under ingot_ instead of vllm:, so that what people have drawn of the one shows the other.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/service.h"
#include "server/http/server.h"
#include "server/metrics/histogram.h"

namespace ingot {

// Steps of 1, 2.5 and 5.
inline constexpr std::array seconds_bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,  0.1,   0.25,  0.5,   1.0,
                                              2.5,   5.0,    10.0,  25.0, 50.0,  100.0, 250.0, 500.0, 1000.0};
inline constexpr std::array tokens_bounds = {1.0,   2.0,    5.0,    10.0,   20.0,    50.0,    100.0,   200.0,
                                             500.0, 1000.0, 2000.0, 5000.0, 10000.0, 20000.0, 50000.0, 100000.0};

inline constexpr std::size_t generation_ends = static_cast<std::size_t>(GenerationEnd::failed) + 1;

struct RequestMetrics {
  Histogram time_to_first_token{seconds_bounds};
  Histogram inter_token_latency{seconds_bounds};
  Histogram whole{seconds_bounds};
  Histogram waiting{seconds_bounds};
  Histogram prompt{seconds_bounds};
  Histogram generation{seconds_bounds};
  Histogram prompt_tokens{tokens_bounds};
  Histogram generated_tokens{tokens_bounds};
  std::array<std::atomic<std::int64_t>, generation_ends> ended = {};  // by how they ended
  std::atomic<std::int64_t> refused = 0;                              // because too many waited

  void count_end(GenerationEnd end, const GenerationCounts& counts, const GenerationTimes& times);
};

struct ModelFigures {
  std::string name;
  const RequestMetrics* requests = nullptr;
  ServiceCounts service;
};

std::string metrics_text(const std::vector<ModelFigures>& models, const http::ServerCounts& connections,
                         std::int64_t lost_log_lines);

}  // namespace ingot
