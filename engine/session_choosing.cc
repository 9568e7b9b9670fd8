// Passes of a device that choose tokens, and passes that come again.
#include <algorithm>

#include "engine/session.h"

namespace ingot {
namespace {

// What a run that goes on with a chosen token is planned with; the device knows which it is.
constexpr std::int32_t token_to_come[] = {0};

std::vector<ChoiceGroup> groups_of(std::span<const TokenChoice> choices) {
  std::vector<ChoiceGroup> groups;
  for (const TokenChoice& choice : choices) {
    if (groups.empty() || groups.back().rule != choice.rule) groups.push_back({.rows = 0, .rule = choice.rule});
    ++groups.back().rows;
  }
  return groups;
}

}  // namespace

// What the host computes first is no part of a recording; all that follows is, from what crosses on.
Result<void> Session::run_on_device(Plan& plan, PassKind kind) {
  TRY(run_host_steps(plan, nullptr));
  if (memory_->has_states()) kind.sequences = sequences_of_runs_;
  // Before anything is recorded: it may move what recorded passes use.
  if (!kind.choices.empty() && !device_->takes_calls()) {
    const std::size_t needed = choice_scratch_bytes(*device_table_, device_->choice_tensors(plan), workers_->count());
    if (const Result<void> made = device_->make_scratch(needed); !made.ok()) {
      forget_plans();
      return made.error();
    }
  }
  return device_->recordings().run(kind, [&]() -> Result<void> {
    Context context = context_of_passes();
    // They have an output each, so there are as many tokens.
    if (kind.continues) device_->continue_tokens(plan, sequences_of_runs_.size());
    TRY(plan.run(context));
    if (kind.choices.empty()) return {};
    device_->queue().name_step("choice");
    return choose_tokens(*device_table_, device_->choice_tensors(plan), kind.choices, context);
  });
}

Result<void> Session::run_beginnings(std::span<const ChosenRun> runs, std::int64_t most_tokens,
                                     std::vector<TokenRun>& rest) {
  std::vector<float> no_outputs;
  for (const ChosenRun& run : runs) {
    std::span<const std::int32_t> left = run.tokens;
    const std::size_t last = run.choice ? 1 : 0;
    while (left.size() > last) {
      const auto count = std::min(static_cast<std::size_t>(most_tokens), left.size() - last);
      const TokenRun part{run.sequence, left.first(count), Wanted::none};
      TRY(run_pass(std::span(&part, 1), no_outputs));
      left = left.subspan(count);
    }
    if (run.choice) rest.push_back({run.sequence, left, Wanted::last});
  }
  return {};
}

Result<void> Session::begin_choosing(std::span<const ChosenRun> runs) {
  std::vector<TokenRun> pass;
  std::vector<TokenChoice> choices;
  const bool continues = std::ranges::any_of(runs, &ChosenRun::goes_on);
  if (continues) {
    const bool has_chosen = std::ranges::equal(runs, runs_with_tokens_, {}, &ChosenRun::sequence);
    const bool all = std::ranges::all_of(runs, [](const ChosenRun& run) { return run.goes_on && run.choice; });
    if (!has_chosen || !all) {
      return Error::of(
          ErrorCode::invalid_argument,
          "expected to go on with the runs of the last pass, all of them and in their order, found others");
    }
  }
  std::int64_t tokens = 0;
  std::vector<std::int32_t> known;  // of tokens that the device chose, where the host has to look at them
  if (continues && host_layers_ > 0) {
    const std::span<const std::int32_t> chosen = TRY(device_->receive_chosen(last_turn_));
    known.assign(chosen.begin(), chosen.end());
  }
  for (const ChosenRun& run : runs) {
    std::span<const std::int32_t> of_run = run.tokens;
    if (continues) of_run = token_to_come;
    if (!known.empty()) of_run = std::span<const std::int32_t>(known).subspan(pass.size(), 1);
    pass.push_back({run.sequence, of_run, run.choice ? Wanted::last : Wanted::none});
    if (run.choice) choices.push_back(*run.choice);
    tokens += static_cast<std::int64_t>(pass.back().tokens.size());
  }
  if (choices.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected a run that chooses a token, found none");
  }
  if (passes_under_way() > (continues ? 1 : 0)) {
    return Error::of(ErrorCode::invalid_argument, "expected chosen tokens to be asked for before more are, found ",
                     passes_under_way(), " passes whose tokens were not");
  }
  TRY(check(pass));
  if (!have_same_adapters(pass)) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected runs of one set of adapters to choose tokens for, found several");
  }
  planning_seconds_ = 0;
  tokens_done_ = 0;
  tokens_wanted_ = tokens;
  const bool is_one_each = tokens == static_cast<std::int64_t>(runs.size());
  const bool goes_by_single_tokens = options_.deterministic && memory_->has_states() && !is_one_each;
  // Runs that go on have no beginnings.
  if (!continues && (goes_by_single_tokens || tokens > options_.chunk)) {
    std::vector<TokenRun> rest;
    TRY(run_beginnings(runs, goes_by_single_tokens ? 1 : options_.chunk, rest));
    pass = std::move(rest);
  }
  return run_choosing(pass, choices, continues && known.empty());
}

Result<void> Session::run_choosing(std::span<const TokenRun> runs, std::span<const TokenChoice> choices,
                                   bool continues) {
  Plan& plan = *TRY(prepare_pass(runs));
  device_->send_inputs(plan);
  std::ranges::transform(choices, device_->uniforms(), &TokenChoice::uniform);
  const bool draws =
      std::ranges::any_of(choices, [](const TokenChoice& choice) { return choice.rule.temperature > 0; });
  if (draws) device_->send_uniforms(choices.size());
  TRY(run_on_device(plan, {.plan = &plan, .choices = groups_of(choices), .continues = continues}));
  last_turn_ = TRY(device_->send_chosen_back(choices.size()));
  turns_under_way_.push_back(last_turn_);
  finish_pass(runs);
  for (const TokenRun& run : runs) {
    if (run.wanted != Wanted::none) runs_with_tokens_.push_back(run.sequence);
  }
  return {};
}

Result<std::span<const std::int32_t>> Session::chosen() {
  const int turn = turns_under_way_.front();
  turns_under_way_.erase(turns_under_way_.begin());
  return device_->receive_chosen(turn);
}

}  // namespace ingot
