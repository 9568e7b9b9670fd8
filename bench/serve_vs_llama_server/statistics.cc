#include "bench/serve_vs_llama_server/statistics.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ingot::load {
namespace {

nlohmann::json json_of(const Waits& waits) {
  return {{"count", waits.count}, {"p50", waits.median}, {"p99", waits.percentile_99}, {"longest", waits.longest}};
}

// What went wrong first is mostly why the rest did.
std::string first_failure(std::span<const RequestRecord> requests) {
  const auto failed = std::ranges::find(requests, Outcome::failed, &RequestRecord::outcome);
  return failed == requests.end() ? "" : failed->failure;
}

// Of its events.
double share_in_window(const RequestRecord& request, double window_end) {
  if (request.events.empty()) return 0;
  const auto inside = std::ranges::count_if(request.events, [&](double time) { return time < window_end; });
  return static_cast<double>(inside) / static_cast<double>(request.events.size());
}

}  // namespace

double percentile(std::vector<double> samples, double share) {
  if (samples.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(samples.size()));
  const auto index = std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rank) - 1, 0, std::ssize(samples) - 1);
  std::ranges::nth_element(samples, samples.begin() + index);
  return samples[static_cast<std::size_t>(index)];
}

Waits waits_of(const std::vector<double>& samples) {
  return {.count = std::ssize(samples),
          .median = percentile(samples, 0.5),
          .percentile_99 = percentile(samples, 0.99),
          .longest = percentile(samples, 1)};
}

Totals totals_of(std::span<const RequestRecord> requests) {
  Totals totals;
  for (const RequestRecord& request : requests) {
    switch (request.outcome) {
      case Outcome::answered: ++totals.answered; break;
      case Outcome::failed: ++totals.failed; break;
      case Outcome::abandoned: ++totals.abandoned; break;
      case Outcome::waiting: ++totals.waiting; break;
    }
    if (request.outcome == Outcome::answered && request.tokens() < request.asked) ++totals.too_short;
    totals.prompt_tokens += request.usage.prompt;
    totals.cached_tokens += request.usage.cached;
    totals.tokens += request.tokens();
    totals.events += std::ssize(request.events);
  }
  return totals;
}

double tokens_per_second(const LoadRecord& record) {
  if (record.window_end <= 0) return 0;
  double tokens = 0;
  for (const RequestRecord& request : record.requests) {
    tokens += static_cast<double>(request.tokens()) * share_in_window(request, record.window_end);
  }
  return tokens / record.window_end;
}

double requests_per_second(const LoadRecord& record) {
  if (record.window_end <= 0) return 0;
  double requests = 0;
  for (const RequestRecord& request : record.requests) requests += share_in_window(request, record.window_end);
  return requests / record.window_end;
}

std::vector<double> first_token_waits(std::span<const RequestRecord> requests) {
  std::vector<double> waits;
  for (const RequestRecord& request : requests) {
    if (!request.events.empty()) waits.push_back(request.events.front() - request.sent);
  }
  return waits;
}

std::vector<double> gaps(std::span<const RequestRecord> requests) {
  std::vector<double> gaps;
  for (const RequestRecord& request : requests) {
    for (std::size_t index = 1; index < request.events.size(); ++index) {
      gaps.push_back(request.events[index] - request.events[index - 1]);
    }
  }
  return gaps;
}

Intrusion intrusion_of(const LoadRecord& record) {
  const RequestRecord& intruder = record.requests.back();
  const double answered = intruder.events.empty() ? record.seconds : intruder.events.front();
  Intrusion intrusion{.first_token = answered - intruder.sent};
  std::vector<double> quiet;
  for (const RequestRecord& request : std::span(record.requests).first(record.requests.size() - 1)) {
    for (std::size_t index = 1; index < request.events.size(); ++index) {
      const double begin = request.events[index - 1];
      const double end = request.events[index];
      if (end <= intruder.sent) quiet.push_back(end - begin);
      if (end > intruder.sent && begin < answered) intrusion.longest_gap = std::max(intrusion.longest_gap, end - begin);
    }
    // A stream that is still silent when the intruder's first token comes has waited, too.
    if (!request.events.empty() && request.outcome == Outcome::abandoned) {
      intrusion.longest_gap = std::max(intrusion.longest_gap, request.ended - request.events.back());
    }
  }
  intrusion.quiet_gap = percentile(quiet, 0.5);
  return intrusion;
}

std::string report_of(const LoadRecord& record) {
  const Totals totals = totals_of(record.requests);
  nlohmann::json report = {{"requests", record.requests.size()},
                           {"answered", totals.answered},
                           {"failed", totals.failed},
                           {"abandoned", totals.abandoned},
                           {"waiting", totals.waiting},
                           {"too_short", totals.too_short},
                           {"first_failure", first_failure(record.requests)},
                           {"prompt_tokens", totals.prompt_tokens},
                           {"cached_tokens", totals.cached_tokens},
                           {"tokens", totals.tokens},
                           {"events", totals.events},
                           {"seconds", record.seconds},
                           {"window_seconds", record.window_end},
                           {"tokens_per_second", tokens_per_second(record)},
                           {"requests_per_second", requests_per_second(record)},
                           {"first_token_seconds", json_of(waits_of(first_token_waits(record.requests)))},
                           {"gap_seconds", json_of(waits_of(gaps(record.requests)))},
                           {"processor_share", record.seconds > 0 ? record.processor_time / record.seconds : 0}};
  if (record.has_intruder) {
    const Intrusion intrusion = intrusion_of(record);
    report["intruder"] = {{"quiet_gap_seconds", intrusion.quiet_gap},
                          {"longest_gap_seconds", intrusion.longest_gap},
                          {"first_token_seconds", intrusion.first_token}};
  }
  if (!record.probe.seconds.empty() || record.probe.failures > 0) {
    report["probe_seconds"] = json_of(waits_of(record.probe.seconds));
    report["probe_failures"] = record.probe.failures;
  }
  return report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace ingot::load
