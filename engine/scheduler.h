// The scheduler: from the state of all requests to the next pass. A pure function: it computes nothing of a model, has
// no clock and no memory of its own, so that every rule below is tested with numbers alone.
//
// - A request that generates gets its row in every pass. What is left of the pass's time goes to prompts, in chunks;
//   and to texts of requests that generate and have come to more than one token at once, before prompts but for the
//   least chunk of them.
// - Prompts are read in the order in which their requests were admitted: the first ends soonest.
// - Waiting requests are admitted in turn by who asks, then by arrival, where the pages of the whole prompt are free
//   and some to grow: nobody overtakes the one whose turn it is.
// - Where those that generate need more pages than there are, the youngest gives its own back and waits again. What it
//   said is kept, and computed anew later.
// - A paused request keeps its pages and gets no rows. It makes way before anybody else does, and also for one whose
//   turn it is to be admitted: whoever reads slowly keeps nobody waiting.
// - A request is held, and lets others pass, while one that was admitted computes what it begins with. For those that
//   wait themselves nobody waits: whose turn comes first reads, whoever arrived first.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/pass_costs.h"

namespace ingot {

struct RequestState {
  std::int64_t number = 0;     // by arrival, from 0 on
  std::int64_t asker = 0;      // requests of one asker take turns with those of others
  std::int64_t tokens = 0;     // prompt, and what was generated
  std::int64_t computed = 0;   // of these, in the cache: at the least what it shares of others' pages
  std::int64_t pages = 0;      // that it holds, shared ones included
  std::int64_t own_pages = 0;  // of them, those that nobody else uses: free when it goes
  // Tokens that its next run may have: where it ends, something is kept by which others continue.
  std::int64_t most_run = std::numeric_limits<std::int64_t>::max();
  std::int64_t admissions_before = 0;  // of all, when it arrived
  std::int64_t admission = 0;          // which of all, where it is admitted
  // Names its text up to the end of the first page that is not computed: equal for those that would compute the same;
  // 0: it has none.
  std::uint64_t next_page = 0;
  bool is_admitted = false;
  bool generates = false;  // its prompt is through: all that is not computed goes into the next pass
  bool is_held = false;    // one that is admitted computes the beginning of its prompt: it is worth waiting for
  bool is_paused = false;
  bool wants_all_outputs = false;  // each row of its prompt gives an output: it computes all of it itself
};

struct ScheduleLimits {
  std::int64_t page_length = 64;
  std::int64_t admitted = 64;  // requests at once
  std::int64_t rows = 512;     // of a pass
  // Of these, of prompts: fewer where memory is short (engine/prompt_rows.h).
  std::int64_t prompt_rows = std::numeric_limits<std::int64_t>::max();
  std::int64_t prompt_outputs = 512;  // of rows of prompts that each give one
  bool reads_ahead = true;            // else those that generate have a row each, whatever they have come to
  double pass_seconds = 0.2;
  double most_stretch = 6;        // times a pass without prompts
  double stretch_alone = 4;       // times pass_seconds, while nobody generates: longer passes read prompts faster
  std::int64_t least_chunk = 16;  // rows of prompts, while there are prompts
  std::int64_t tile_rows = 16;    // that products compute together, at most (AMX)
};

struct ScheduleState {
  std::span<const RequestState> requests;  // in the order of arrival
  std::int64_t free_pages = 0;             // those included that only hold what might be asked for again
  std::int64_t admissions = 0;             // so far, of all
  // For askers whose requests wait: which admission their latest one was. Those who are not named had none since.
  struct Turn {
    std::int64_t asker = 0;
    std::int64_t admission = 0;
  };
  std::span<const Turn> turns;
};

struct ScheduledRun {
  std::int64_t number = 0;
  std::int64_t tokens = 0;  // the next ones that are not computed
  bool ends = false;        // nothing is left to compute then: its last row gives the next token

  bool operator==(const ScheduledRun&) const = default;
};

struct ScheduledPass {
  // In this order: who gives pages back, who is admitted, what is computed.
  std::vector<std::int64_t> preempted;
  std::vector<std::int64_t> admitted;
  std::vector<ScheduledRun> runs;  // those that generate first, and of these those with a row each
  std::int64_t decoding_rows = 0;  // one for each that generates
  std::int64_t further_rows = 0;   // of those that generate, beside these
  std::int64_t prompt_rows = 0;
};

ScheduledPass schedule(const ScheduleState& state, const ScheduleLimits& limits, const PassCosts& costs);

// How many rows of prompts a pass takes beside those that decode, where that many wait.
std::int64_t prompt_rows_beside(std::int64_t decoding_rows, const ScheduleLimits& limits, const PassCosts& costs);

// Rows that a pass must be able to have, in whole tiles, so that each of so many can generate beside the least chunk.
std::int64_t rows_for(std::int64_t sequences, const ScheduleLimits& limits = {});

}  // namespace ingot
