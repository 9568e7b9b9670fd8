// A pass of the service, and what follows from it: tokens are chosen, probabilities computed, listeners told.
#include <algorithm>

#include "engine/service.h"

namespace ingot {

void Service::compute(const ScheduledPass& pass) {
  std::vector<TokenRun> runs;
  std::vector<Active*> of_runs;
  std::vector<OutputRow> rows;
  for (const ScheduledRun& run : pass.runs) {
    Active& active = find(run.number);
    if (active.has_ended) continue;
    const std::int64_t begin = active.state.computed, end = begin + run.tokens;
    const std::span<const std::int32_t> tokens = active.generation.tokens();
    const Wanted wanted = active.state.wants_all_outputs ? Wanted::all : run.ends ? Wanted::last : Wanted::none;
    runs.push_back({active.sequence,
                    tokens.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(run.tokens)), wanted});
    of_runs.push_back(&active);
    const std::int64_t outputs = wanted == Wanted::all ? run.tokens : wanted == Wanted::last ? 1 : 0;
    for (std::int64_t at = end - outputs; at < end; ++at) rows.push_back({&active, at, run.ends && at == end - 1});
  }
  if (runs.empty()) return;
  const Clock::time_point begin = Clock::now();
  const Result<View<const float>> logits = session_.forward(runs);
  if (!logits.ok()) return fail(pass, of_runs, logits.error());
  prompt_rows_.grow();
  count_pass(pass);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Active& active = *of_runs[i];
    active.state.computed += static_cast<std::int64_t>(runs[i].tokens.size());
    SequenceMemory& sequences = session_.sequences();
    if (!sequences.shares_texts()) continue;
    sequences.publish(active.sequence, active.generation.request().salt, active.generation.tokens());
    if (active.state.computed == active.checkpoint_at) sequences.keep_checkpoint(active.sequence);
  }
  take_outputs(rows, logits.value());
  // Whoever waits for the next pass waits for all of this.
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  costs_.observe(pass.decoding_rows, pass.prompt_rows, elapsed.count() - session_.planning_seconds());
}

void Service::count_pass(const ScheduledPass& pass) {
  const std::lock_guard lock(mutex_);
  ++(pass.prompt_rows == 0     ? counts_.decoding_passes
     : pass.decoding_rows == 0 ? counts_.prompt_passes
                               : counts_.mixed_passes);
  counts_.prompt_rows += pass.prompt_rows;
  counts_.decoding_rows += pass.decoding_rows;
}

void Service::fail(const ScheduledPass& pass, std::span<Active* const> of_pass, const Error& error) {
  if (error.code() != ErrorCode::out_of_memory) {
    // Whose fault it is cannot be told; the next pass is another one.
    for (Active* active : of_pass) end(*active, GenerationEnd::failed, &error);
    return;
  }
  if (!prompt_rows_.shrink(pass.prompt_rows)) {
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

Result<Service::Outcome> Service::evaluate(const OutputRow& row, std::span<const float> logits,
                                           Context& context) const {
  Generation& generation = row.active->generation;
  const TextRequest& request = generation.request();
  const std::int64_t most_likely = request.most_likely.value_or(0);
  Outcome outcome;
  if (!row.is_last) {
    if (!generation.wants_prompt_output(row.position)) return outcome;
    outcome.token = request.prompt[static_cast<std::size_t>(row.position) + 1];
    outcome.score = TRY(score_token(session_.table(), logits, outcome.token, most_likely, context));
  } else if (request.most_tokens > 0) {
    outcome.token = TRY(generation.sampler().choose(logits, context, generation.constraints()));
    if (request.most_likely) {
      outcome.score = TRY(score_token(session_.table(), logits, outcome.token, most_likely, context));
    }
  }
  return outcome;
}

void Service::take_outputs(std::span<const OutputRow> rows, View<const float> logits) {
  std::vector<std::optional<Result<Outcome>>> outcomes(rows.size());
  const auto width = static_cast<std::size_t>(logits.size(1));
  // Rows side by side; the operations of each run on one thread alone.
  const auto evaluate_row = [&](std::int64_t row, std::int64_t, int worker) {
    const auto index = static_cast<std::size_t>(row);
    Context alone{*alone_[static_cast<std::size_t>(worker)], {}};
    outcomes[index].emplace(evaluate(rows[index], {logits.data() + index * width, width}, alone));
  };
  session_.context_for_kernels().workers.for_chunks(static_cast<std::int64_t>(rows.size()), 1, evaluate_row);
  for (std::size_t i = 0; i < rows.size(); ++i) take_outcome(rows[i], std::move(*outcomes[i]));
}

void Service::take_outcome(const OutputRow& row, Result<Outcome> outcome) {
  Active& active = *row.active;
  if (active.has_ended) return;
  if (!outcome.ok()) return end(active, GenerationEnd::failed, &outcome.error());
  Generation& generation = active.generation;
  const Outcome& found = outcome.value();
  if (!row.is_last) {
    if (generation.wants_prompt_output(row.position)) generation.take_prompt_score(std::move(outcome.value().score));
    return;
  }
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
    }
    reached = generation.take(found.token, found.score);
  }
  if (reached != GenerationEnd::none) end(active, reached);
}

}  // namespace ingot
