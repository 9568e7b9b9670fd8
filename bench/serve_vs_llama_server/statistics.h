// What a load's record says: rates, and how long its clients waited.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/serve_vs_llama_server/record.h"

namespace ingot::load {

// The least sample that at least this share of all is not above (nearest rank): always one that was measured.
// 0 where there are none. Precondition: 0 < share <= 1.
double percentile(std::vector<double> samples, double share);

struct Waits {
  std::int64_t count = 0;
  double median = 0;
  double percentile_99 = 0;
  double longest = 0;
};

Waits waits_of(const std::vector<double>& samples);

struct Totals {
  std::int64_t answered = 0;
  std::int64_t failed = 0;
  std::int64_t abandoned = 0;
  std::int64_t waiting = 0;
  std::int64_t too_short = 0;  // answered with fewer tokens than were asked for
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t tokens = 0;
  std::int64_t events = 0;
};

Totals totals_of(std::span<const RequestRecord> requests);

// What came in [0, window_end), over its length. A request and its tokens are dealt out evenly over its events, for
// what is half done at the window's end is work as well.
double tokens_per_second(const LoadRecord& record);
double requests_per_second(const LoadRecord& record);

std::vector<double> first_token_waits(std::span<const RequestRecord> requests);
std::vector<double> gaps(std::span<const RequestRecord> requests);

// What the others felt of the intruder, and what it felt of them.
struct Intrusion {
  double quiet_gap = 0;    // median of the gaps that ended before it came
  double longest_gap = 0;  // of those that ended after it came, and began before its first token
  double first_token = 0;
};

// Precondition: record.has_intruder.
Intrusion intrusion_of(const LoadRecord& record);

// The whole report as JSON.
std::string report_of(const LoadRecord& record);

}  // namespace ingot::load
