// The load itself: one thread that sends what is due, reads what comes, and notes when.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bench/serve_vs_llama_server/record.h"
#include "bench/serve_vs_llama_server/workload.h"

namespace ingot::load {

struct LoadOptions {
  sockaddr_in address = {};
  WorkloadOptions workload = {};
  std::int64_t clients = 1;          // without a rate: each sends its next request when the one before is answered
  double most_seconds = 600;         // what is not answered by then is left
  std::int64_t intruder_after = 24;  // events that every stream has had when the intruder comes
  std::string probe_path = {};       // asked again and again beside the load; empty: nothing is
  double probe_interval = 0.02;
};

// Where the intruder was asked for, the load ends when it is answered.
Result<LoadRecord> run_load(const LoadOptions& options);

}  // namespace ingot::load
