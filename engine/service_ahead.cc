// Passes of a service on a device, which chooses the tokens and begins with the next pass before anybody is told of
// them.
#include <algorithm>

#include "engine/service.h"

namespace ingot {
namespace {

// Choices of a pass. One that does not come to be leaves no trace in what follows: they are drawn again.
class DrawnChoices {
 public:
  TokenChoice next_of(Sampler& sampler) {
    before_.emplace_back(&sampler, sampler.numbers());
    return sampler.next_choice();
  }
  void take_back() const {
    for (const auto& [sampler, numbers] : before_) sampler->draw_again_from(numbers);
  }

 private:
  std::vector<std::pair<Sampler*, RandomNumbers>> before_;
};

}  // namespace

bool Service::can_choose_on_device(std::span<const OutputRow> rows) const {
  // What is most likely of all is so of what may come, too, unless it must not: then whoever it was for is set back.
  const bool can_set_back = !session_.sequences().needs_checkpoints();
  return session_.chooses_tokens() && !rows.empty() && std::ranges::all_of(rows, [&](const OutputRow& row) {
           Generation& generation = row.active->generation;
           const TextRequest& request = generation.request();
           TokenConstraints constraints = generation.constraints();
           if (request.sampling.temperature == 0 && can_set_back) constraints.forbidden = {};
           return row.is_last && request.most_tokens > 0 && !request.most_likely && request.constraint == nullptr &&
                  !row.active->must_choose_again && generation.sampler().needs_logits_alone(constraints);
         });
}

bool Service::have_same_adapters(std::span<Active* const> actives) {
  return std::ranges::all_of(actives, [&](const Active* active) {
    return active->generation.request().adapters == actives.front()->generation.request().adapters;
  });
}

Result<void> Service::begin_on_device(std::span<const TokenRun> runs, std::span<Active* const> of_runs,
                                      std::span<const OutputRow> rows, const ScheduledPass& pass) {
  const Clock::time_point begin = Clock::now();
  DrawnChoices choices;
  std::vector<ChosenRun> choosing;
  auto row = rows.begin();
  for (const TokenRun& run : runs) {
    choosing.push_back({.sequence = run.sequence, .tokens = run.tokens, .choice = std::nullopt});
    if (run.wanted != Wanted::none) choosing.back().choice = choices.next_of((row++)->active->generation.sampler());
  }
  if (const Result<void> begun = session_.begin_choosing(choosing); !begun.ok()) {
    choices.take_back();
    return begun.error();
  }
  for (std::size_t i = 0; i < runs.size(); ++i) of_runs[i]->state.computed += std::ssize(runs[i].tokens);
  count_pass(pass.decoding_rows + pass.further_rows, pass.prompt_rows);
  under_way_.push_back({.actives = {of_runs.begin(), of_runs.end()},
                        .rows = {rows.begin(), rows.end()},
                        .decoding_rows = pass.decoding_rows,
                        .prompt_rows = pass.further_rows + pass.prompt_rows,
                        .begin = begin,
                        .planning_seconds = session_.planning_seconds()});
  return {};
}

bool Service::is_under_way(const Active& active) const {
  return std::ranges::any_of(under_way_, [&](const PassUnderWay& pass) {
    return std::ranges::find(pass.actives, &active) != pass.actives.end();
  });
}

bool Service::can_go_on() const {
  // What a window or a state had come to could not be kept any more for others that begin alike.
  if (under_way_.size() != 1 || !session_.goes_ahead() || session_.sequences().needs_checkpoints()) return false;
  const PassUnderWay& pass = under_way_.front();
  if (pass.rows.size() != pass.actives.size()) return false;  // prompts go on in another way
  const auto will_go_on = [](Active* active) {
    Generation& generation = active->generation;
    return !active->has_ended && !active->must_choose_again && !active->state.is_paused &&
           generation.counts().generated + 1 < generation.request().most_tokens;
  };
  if (!std::ranges::all_of(pass.actives, will_go_on)) return false;
  // Pages that are missing are the scheduler's to find.
  if (session_.sequences().whole().free_pages() < std::ssize(pass.actives)) return false;
  const auto has_no_part = [&, full = is_full()](const std::unique_ptr<Active>& active) {
    if (active->has_ended || active->state.is_paused || is_under_way(*active)) return true;
    return full && !active->state.is_admitted;
  };
  return std::ranges::all_of(active_, has_no_part);
}

void Service::go_on() {
  if (!can_go_on()) return;
  PassUnderWay next = under_way_.front();
  DrawnChoices choices;
  next.begin = Clock::now();
  next.decoding_rows = std::ssize(next.actives);
  next.prompt_rows = 0;
  std::vector<ChosenRun> runs;
  for (OutputRow& row : next.rows) {
    ++row.position;
    runs.push_back({.sequence = row.active->sequence,
                    .choice = choices.next_of(row.active->generation.sampler()),
                    .goes_on = true});
  }
  // What is in its way is in the way of the pass that is scheduled then, too, which tells whom it may concern.
  if (!session_.begin_choosing(runs).ok()) return choices.take_back();
  for (Active* active : next.actives) ++active->state.computed;
  count_pass(next.decoding_rows, next.prompt_rows);
  next.planning_seconds = session_.planning_seconds();
  under_way_.push_back(std::move(next));
}

void Service::take_first() {
  const Result<std::span<const std::int32_t>> tokens = session_.chosen();
  const PassUnderWay pass = under_way_.front();  // stays there until all are told: who ends is still asked for
  if (!tokens.ok()) {
    // Whose fault it is cannot be told, and the pass behind it goes on with what is not there.
    for (Active* active : pass.actives) end(*active, GenerationEnd::failed, &tokens.error());
    return forget_passes();
  }
  prompt_rows_.grow();
  limits_.reads_ahead = true;
  for (Active* active : pass.actives) tell_progress(*active);
  for (std::size_t i = 0; i < pass.rows.size(); ++i) take_token(pass.rows[i], tokens.value()[i]);
  under_way_.pop_front();
  // What it computes is shared when it is known which tokens that is of.
  for (const PassUnderWay& next : under_way_) {
    for (Active* active : next.actives) {
      if (!active->has_ended && !active->must_choose_again) share_computed(*active);
    }
  }
  const Clock::time_point now = Clock::now();
  const auto planned =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pass.planning_seconds));
  const std::chrono::duration<double> elapsed = now - std::max(pass.begin + planned, last_taken_);
  last_taken_ = now;
  // What it took to plan the next one is in this one's time.
  if (!under_way_.empty() && under_way_.front().planning_seconds > 0) return;
  costs_.observe(pass.decoding_rows, pass.prompt_rows, elapsed.count());
}

void Service::take_token(const OutputRow& row, std::int32_t token) {
  Active& active = *row.active;
  if (active.has_ended || active.must_choose_again) return;
  Generation& generation = active.generation;
  active.must_choose_again = std::ranges::count(generation.constraints().forbidden, token) > 0;
  if (active.must_choose_again) return;
  if (const Result<std::int32_t> accepted = generation.sampler().accept(token); !accepted.ok()) {
    return end(active, GenerationEnd::failed, &accepted.error());
  }
  take_outcome(row, {.token = token});
}

void Service::set_back() {
  for (const std::unique_ptr<Active>& active : active_) {
    if (!active->must_choose_again || !active->state.is_admitted) continue;
    const std::int64_t length = std::ssize(active->generation.tokens()) - 1;
    if (length >= active->state.computed) continue;
    if (const Result<void> done = session_.sequences().truncate(active->sequence, length); !done.ok()) {
      end(*active, GenerationEnd::failed, &done.error());
    }
    active->state.computed = length;
  }
  remove_ended();
}

void Service::forget_passes() {
  while (session_.passes_under_way() > 0) static_cast<void>(session_.chosen());
  under_way_.clear();
}

}  // namespace ingot
