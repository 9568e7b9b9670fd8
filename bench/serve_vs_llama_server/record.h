// What became of each request: the times that matter to whoever waits for its words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/serve_vs_llama_server/event_reader.h"

namespace ingot::load {

enum class Outcome : std::uint8_t {
  waiting,    // not sent, or not answered when time was up
  answered,   // to its last event
  failed,     // an error of the server, of HTTP or of the connection
  abandoned,  // by us, because what it was sent for was over
};

// Times are seconds after the beginning of the load.
struct RequestRecord {
  Outcome outcome = Outcome::waiting;
  double sent = 0;                  // when it should have been: a late client makes no server faster
  std::vector<double> events = {};  // the arrival of each piece of text
  double ended = 0;
  std::int64_t asked = 0;  // tokens
  TokenUsage usage = {};
  bool has_usage = false;
  std::string failure = {};

  // Text may wait for the rest of a character: there are at most as many events as tokens.
  std::int64_t tokens() const { return has_usage ? usage.generated : static_cast<std::int64_t>(events.size()); }
};

struct ProbeRecord {
  std::vector<double> seconds = {};  // from connecting to the end of each answer
  std::int64_t failures = 0;
};

struct LoadRecord {
  std::vector<RequestRecord> requests;
  ProbeRecord probe;
  double seconds = 0;         // all of it
  double window_end = 0;      // until then every client had a request under way
  double processor_time = 0;  // that the generator took itself
  bool has_intruder = false;  // the last request
};

}  // namespace ingot::load
