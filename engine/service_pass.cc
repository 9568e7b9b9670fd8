// A pass of the service, and what follows from it: tokens are chosen, probabilities computed, listeners told.
#include <algorithm>
#include <utility>

#include "engine/service.h"

namespace ingot {
namespace {

// How long all others wait for a mask that is not there when the pass has ended. Most take microseconds.
constexpr std::chrono::milliseconds mask_patience{5};

}  // namespace

void Service::compute(const ScheduledPass& pass) {
  std::vector<TokenRun> runs;
  std::vector<Active*> of_runs;
  std::vector<OutputRow> rows;
  for (const ScheduledRun& run : pass.runs) {
    Active& active = find(run.number);
    if (active.has_ended) continue;
    const std::int64_t begin = active.state.computed, end = begin + run.tokens;
    std::span<const std::int32_t> tokens = active.generation.tokens();
    Wanted wanted = active.state.wants_all_outputs ? Wanted::all : run.ends ? Wanted::last : Wanted::none;
    const bool has_proposals = !active.proposed.empty();
    if (has_proposals) {
      active.proposed.resize(static_cast<std::size_t>(end - std::ssize(tokens)));
      active.run.assign(tokens.begin() + begin, tokens.end());
      active.run.insert(active.run.end(), active.proposed.begin(), active.proposed.end());
      tokens = active.run;
      wanted = Wanted::all;
    } else {
      tokens = tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(run.tokens));
    }
    runs.push_back({active.sequence, tokens, wanted});
    of_runs.push_back(&active);
    if ((run.ends || has_proposals) && active.generation.held() != nullptr) {
      // What is forced is part of the text already.
      HeldText& held = *active.generation.held();
      held.begin_mask(*masks_, held.forced().empty() ? std::span<const std::int32_t>(active.proposed)
                                                     : std::span<const std::int32_t>());
    }
    const std::int64_t outputs = wanted == Wanted::all ? run.tokens : wanted == Wanted::last ? 1 : 0;
    for (std::int64_t at = end - outputs; at < end; ++at) {
      rows.push_back({&active, at, has_proposals || (run.ends && at == end - 1)});
    }
  }
  if (runs.empty()) return;
  if (can_choose_on_device(rows) && have_same_adapters(of_runs)) {
    if (const Result<void> begun = begin_on_device(runs, of_runs, rows, pass); !begun.ok()) {
      return fail(pass, of_runs, begun.error());
    }
    for (std::size_t i = 0; i < runs.size(); ++i) share_computed(*of_runs[i]);
    go_on();
    return take_first();
  }
  const Clock::time_point begin = Clock::now();
  const Result<View<const float>> logits = session_.forward(runs);
  if (!logits.ok()) return fail(pass, of_runs, logits.error());
  prompt_rows_.grow();
  limits_.reads_ahead = true;
  count_pass(pass.decoding_rows + pass.further_rows, pass.prompt_rows);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    of_runs[i]->state.computed += std::ssize(runs[i].tokens);
    share_computed(*of_runs[i]);
    tell_progress(*of_runs[i]);
  }
  take_outputs(rows, logits.value());
  // Whoever waits for the next pass waits for all of this.
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  costs_.observe(pass.decoding_rows, pass.further_rows + pass.prompt_rows,
                 elapsed.count() - session_.planning_seconds());
}

void Service::share_computed(Active& active) {
  SequenceMemory& sequences = session_.sequences();
  if (!sequences.shares_texts()) return;
  sequences.publish(active.sequence, active.generation.request().salt, active.generation.tokens());
  if (active.state.computed == active.checkpoint_at) sequences.keep_checkpoint(active.sequence);
}

void Service::tell_progress(Active& active) {
  Generation& generation = active.generation;
  if (active.has_ended || !generation.request().wants_progress || generation.counts().generated > 0) return;
  measure_phase(active, Clock::now());
  generation.take_progress(active.state.computed);
}

void Service::count_pass(std::int64_t decoding_rows, std::int64_t prompt_rows) {
  const std::lock_guard lock(mutex_);
  ++(prompt_rows == 0 ? counts_.decoding_passes : decoding_rows == 0 ? counts_.prompt_passes : counts_.mixed_passes);
  counts_.prompt_rows += prompt_rows;
  counts_.decoding_rows += decoding_rows;
}

void Service::fail(const ScheduledPass& pass, std::span<Active* const> of_pass, const Error& error) {
  if (error.code() != ErrorCode::out_of_memory) {
    // Whose fault it is cannot be told; the next pass is another one.
    for (Active* active : of_pass) end(*active, GenerationEnd::failed, &error);
    return;
  }
  // What need not be computed at once is computed later, and what need not be computed at all is not.
  if (pass.further_rows > 0) {
    limits_.reads_ahead = false;
    for (Active* active : of_pass) active->proposed.clear();
  } else if (!prompt_rows_.shrink(pass.prompt_rows)) {
    const auto youngest = std::ranges::max_element(of_pass, {}, [](const Active* active) { return active->number; });
    const std::int64_t rows = pass.decoding_rows + pass.prompt_rows;
    const Error why = error.within("in a pass of ", rows, " rows, which cannot have fewer");
    end(**youngest, GenerationEnd::failed, &why);
  }
  // Where the pass went through in parts, some have come further than is known, and cannot be turned back.
  for (Active* active : of_pass) {
    if (!active->has_ended && session_.sequences().length(active->sequence) != active->state.computed) {
      preempt(*active);
    }
  }
}

Result<Service::Outcome> Service::evaluate(const OutputRow& row, std::int64_t ahead, Context& context) const {
  Generation& generation = row.active->generation;
  const std::span<const float> logits = row.logits;
  const TextRequest& request = generation.request();
  const std::int64_t most_likely = request.most_likely.value_or(0);
  Outcome outcome;
  if (!row.is_last) {
    if (!generation.wants_prompt_output(row.position)) return outcome;
    outcome.token = request.prompt[static_cast<std::size_t>(row.position) + 1];
    outcome.score = TRY(score_token(session_.table(), logits, outcome.token, most_likely, context));
  } else if (request.most_tokens > 0) {
    HeldText* held = generation.held();
    Sampler& sampler = generation.sampler();
    const TokenConstraints constraints = generation.constraints(ahead);
    const std::optional<std::int32_t> forced = held != nullptr ? held->next_forced(sampler) : std::nullopt;
    outcome.is_forced = forced.has_value();
    outcome.token = forced            ? *forced
                    : held != nullptr ? TRY(held->choose(sampler, logits, context, constraints))
                                      : TRY(sampler.choose(logits, context, constraints));
    outcome.is_whole = held != nullptr && held->must_end();
    if (request.most_likely) {
      outcome.score = TRY(score_token(session_.table(), logits, outcome.token, most_likely, context));
    }
  }
  return outcome;
}

Service::Outcomes Service::evaluate_run(std::span<const OutputRow> rows, Context& context) const {
  Active& active = *rows.front().active;
  Outcomes outcomes;
  std::vector<Outcome>& tokens = outcomes.tokens;
  // A row's logits are of what was proposed before it: of the text, as long as that came.
  do {
    const OutputRow& row = rows[tokens.size()];
    Result<Outcome> found = evaluate(row, std::ssize(tokens), context);
    if (!found.ok()) {
      outcomes.error = found.error();
      break;
    }
    tokens.push_back(std::move(found).value());
    if (!row.is_last || !go_on_forced(active, tokens)) break;
  } while (tokens.size() < rows.size());
  return outcomes;
}

bool Service::go_on_forced(Active& active, std::vector<Outcome>& tokens) {
  Generation& generation = active.generation;
  HeldText* held = generation.held();
  const bool is_scored = generation.request().most_likely.has_value();
  while (true) {
    const Outcome& last = tokens.back();
    // Nothing follows an end.
    if (last.is_whole || generation.is_end(last.token)) return false;
    const bool is_proposed = tokens.size() > active.proposed.size() || active.proposed[tokens.size() - 1] == last.token;
    if (held == nullptr) return is_proposed;
    if (is_scored || held->forced().empty()) return is_proposed && held->knows_next();
    const std::int32_t token = *held->next_forced(generation.sampler());
    tokens.push_back({.token = token, .is_whole = held->must_end(), .is_forced = true});
  }
}

// Whether what follows its last run depends on one.
bool Service::needs_mask(Active& active) {
  const Generation& generation = active.generation;
  return active.generation.held()->forced().empty() || generation.request().most_likely;
}

void Service::take_outputs(std::span<const OutputRow> rows, View<const float> logits) {
  const auto width = static_cast<std::size_t>(logits.size(1));
  const Clock::time_point patience = Clock::now() + mask_patience;
  std::vector<OutputRow> known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OutputRow row = rows[i];
    row.logits = {logits.data() + i * width, width};
    Active& active = *row.active;
    HeldText* held = active.generation.held();
    // Of a run with proposals the rows behind the first are kept with it.
    const bool is_kept = row.is_last && held != nullptr && !active.has_ended && needs_mask(active) &&
                         (!active.kept_logits.empty() || !held->wait_until(patience));
    if (!is_kept) {
      known.push_back(row);
      continue;
    }
    if (active.kept_logits.empty()) held->ring_when_known(bell_);
    active.kept_logits.insert(active.kept_logits.end(), row.logits.begin(), row.logits.end());
  }
  take_rows(known);
}

bool Service::awaits_masks() const {
  return std::ranges::any_of(
      active_, [](const auto& active) { return !active->kept_logits.empty() && !active->state.is_paused; });
}

bool Service::choose_late() {
  std::vector<OutputRow> rows;
  std::vector<std::vector<float>> logits;
  for (const std::unique_ptr<Active>& active : active_) {
    if (active->kept_logits.empty() || active->has_ended || active->state.is_paused) continue;
    if (!active->generation.held()->wait_until(Clock::now())) continue;
    logits.push_back(std::exchange(active->kept_logits, {}));
    const std::size_t count = active->proposed.size() + 1, width = logits.back().size() / count;
    const std::int64_t first = active->state.computed - static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back({active.get(), first + static_cast<std::int64_t>(i), true,
                      std::span<const float>(logits.back()).subspan(i * width, width)});
    }
  }
  take_rows(rows);
  return !rows.empty();
}

void Service::take_rows(std::span<const OutputRow> rows) {
  std::vector<std::span<const OutputRow>> runs;
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
    last = first + 1;
    while (last < rows.size() && rows[first].is_last && rows[last].active == rows[first].active) ++last;
    runs.push_back(rows.subspan(first, last - first));
  }
  std::vector<Outcomes> outcomes(runs.size());
  // Side by side; the operations of each run on one thread alone.
  const auto evaluate_one = [&](std::int64_t run, std::int64_t, int worker) {
    const auto index = static_cast<std::size_t>(run);
    Context alone{*alone_[static_cast<std::size_t>(worker)], {}};
    outcomes[index] = evaluate_run(runs[index], alone);
  };
  session_.context_for_kernels().workers.for_chunks(static_cast<std::int64_t>(runs.size()), 1, evaluate_one);
  for (std::size_t i = 0; i < runs.size(); ++i) take_outcomes(runs[i], std::move(outcomes[i]));
}

void Service::take_outcomes(std::span<const OutputRow> rows, Outcomes outcomes) {
  Active& active = *rows.front().active;
  if (active.has_ended) return;
  const std::vector<Outcome>& tokens = outcomes.tokens;
  const std::int64_t before = std::ssize(active.generation.tokens());
  const auto came = std::ranges::mismatch(tokens, active.proposed, {}, &Outcome::token);
  const std::int64_t accepted = came.in2 - active.proposed.begin();
  for (std::size_t i = 0; i < tokens.size() && !active.has_ended; ++i) {
    take_outcome(rows[std::min(i, rows.size() - 1)], tokens[i]);
  }
  if (outcomes.error) return end(active, GenerationEnd::failed, &*outcomes.error);
  if (!rows.front().is_last || active.has_ended) return;
  // The last token is computed in any case, for what follows it.
  forget_refused(active, accepted, std::min(before + accepted, std::ssize(active.generation.tokens()) - 1));
  if (!active.has_ended) propose(active);
}

void Service::take_outcome(const OutputRow& row, const Outcome& found) {
  Active& active = *row.active;
  Generation& generation = active.generation;
  if (!row.is_last) {
    if (generation.wants_prompt_output(row.position)) generation.take_prompt_score(found.score);
    return;
  }
  active.must_choose_again = false;
  active.state.generates = true;
  GenerationEnd reached = generation.take_prompt();
  if (reached == GenerationEnd::none) {
    if (!generation.is_end(found.token)) {
      if (generation.counts().generated == 0) {
        end_phase(active);
      } else {
        measure_phase(active, Clock::now());
      }
      const std::lock_guard lock(mutex_);
      ++counts_.generated_tokens;
      counts_.forced_tokens += found.is_forced;
    }
    reached = generation.take(found.token, found.score, found.is_whole);
  }
  if (reached != GenerationEnd::none) end(active, reached);
}

}  // namespace ingot
