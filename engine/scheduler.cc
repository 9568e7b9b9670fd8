#include "engine/scheduler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/units.h"

namespace ingot {
namespace {

class Scheduling {
 public:
  Scheduling(const ScheduleState& state, const ScheduleLimits& limits, const PassCosts& costs)
      : limits_(limits), costs_(costs), free_pages_(state.free_pages), admissions_(state.admissions) {
    for (const RequestState& request : state.requests) {
      (request.is_admitted ? admitted_ : waiting_).push_back(&request);
    }
    std::ranges::stable_sort(admitted_, {}, &RequestState::admission);
    for (const ScheduleState::Turn& turn : state.turns) last_admission_[turn.asker] = turn.admission;
  }

  ScheduledPass run() {
    give_pages();
    generate();
    for (const RequestState* request : admitted_) {
      if (!request->generates && !request->is_paused) read_prompt(*request);
    }
    admit();
    return std::move(pass_);
  }

 private:
  // A row for each that generates; and what they have beyond that, as far as the time goes.
  void generate() {
    std::vector<const RequestState*> longer;
    for (const RequestState* request : admitted_) {
      if (!request->generates || request->is_paused || missing(*request) == 0) continue;
      ++pass_.decoding_rows;
      if (limits_.reads_ahead && missing(*request) > 1) {
        longer.push_back(request);
      } else {
        add_run(*request, 1);
      }
    }
    pass_.decoding_rows = std::min(pass_.decoding_rows, limits_.rows);
    most_prompt_rows_ = prompt_rows_beside(pass_.decoding_rows, limits_, costs_);
    const bool has_prompts = !waiting_.empty() || std::ranges::any_of(admitted_, [](const auto* request) {
      return !request->generates && !request->is_paused;
    });
    std::int64_t further = most_prompt_rows_ - (has_prompts ? std::min(most_prompt_rows_, limits_.least_chunk) : 0);
    auto left = static_cast<std::int64_t>(longer.size());
    for (const RequestState* request : longer) {
      // None so many that others have less than their part.
      const std::int64_t before = rows_;
      add_run(*request, 1 + std::min(missing(*request) - 1, further / left--));
      if (rows_ > before) further -= rows_ - before - 1;
    }
    pass_.further_rows = std::max<std::int64_t>(0, rows_ - pass_.decoding_rows);
    most_prompt_rows_ -= pass_.further_rows;
  }

  static std::int64_t missing(const RequestState& request) { return request.tokens - request.computed; }
  std::int64_t pages_of(std::int64_t tokens) const { return divide_rounding_up(tokens, limits_.page_length); }
  std::int64_t new_pages(const RequestState& request, std::int64_t tokens) const {
    return std::max<std::int64_t>(0, pages_of(tokens) - request.pages);
  }
  // Pages that an admission leaves free: one for each that then runs, so that nobody has to go as soon as he has begun.
  // Where nothing runs, nothing can be reserved for.
  std::int64_t reserve() const { return running() == 0 ? 0 : running() + 1; }
  std::int64_t running() const {
    return std::ranges::count_if(admitted_, [](const RequestState* request) { return !request->is_paused; });
  }

  // What all that run will hold when what they have is computed: a prompt's pages are promised when it is admitted, so
  // only those that generate can come to need more than there are.
  void give_pages() {
    auto needed = [this] {
      std::int64_t pages = 0;
      for (const RequestState* request : admitted_) {
        if (!request->is_paused) pages += new_pages(*request, request->tokens);
      }
      return pages;
    };
    // The oldest that runs stays: whoever is alone has room, or it would not have been taken at all.
    while (needed() > free_pages_ && (has_paused() || running() > 1)) preempt_one();
    free_pages_ -= needed();
  }

  bool has_paused() const { return running() < std::ssize(admitted_); }
  // The youngest of those that are paused, where there are any; otherwise of all.
  void preempt_one() {
    const auto last = std::ranges::max_element(
        admitted_, {}, [](const RequestState* request) { return std::pair(request->is_paused, request->number); });
    free_pages_ += (*last)->own_pages;
    pass_.preempted.push_back((*last)->number);
    admitted_.erase(last);
  }

  void add_run(const RequestState& request, std::int64_t tokens) {
    tokens = std::min({tokens, request.most_run, limits_.rows - rows_});
    if (tokens <= 0) return;
    pass_.runs.push_back({request.number, tokens, tokens == missing(request)});
    rows_ += tokens;
  }

  void read_prompt(const RequestState& request) {
    const std::int64_t before = rows_;
    std::int64_t tokens = std::min(missing(request), most_prompt_rows_ - pass_.prompt_rows);
    if (request.wants_all_outputs) tokens = std::min(tokens, limits_.prompt_outputs - prompt_outputs_);
    add_run(request, tokens);
    pass_.prompt_rows += rows_ - before;
    if (request.wants_all_outputs) prompt_outputs_ += rows_ - before;
  }

  // Whose turn it is: the asker who was admitted, or whose request came, longest ago, whichever was later; then the
  // earliest request.
  std::vector<const RequestState*>::iterator next_waiting() {
    auto earlier = [this](const RequestState* a, const RequestState* b) {
      const std::int64_t turn_a = turn_of(*a), turn_b = turn_of(*b);
      return turn_a != turn_b ? turn_a < turn_b : a->number < b->number;
    };
    auto best = waiting_.end();
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      const bool can_run = !is_held(**at) && !(*at)->is_paused;
      if (can_run && (best == waiting_.end() || earlier(*at, *best))) best = at;
    }
    return best;
  }
  // Somebody computes what it begins with, since before or from this pass on.
  bool is_held(const RequestState& request) const {
    return request.is_held || (!request.wants_all_outputs && begun_pages_.contains(request.next_page));
  }
  std::int64_t turn_of(const RequestState& request) const {
    const auto found = last_admission_.find(request.asker);
    return std::max(request.admissions_before, found == last_admission_.end() ? 0 : found->second);
  }

  void admit() {
    // What was just taken from somebody is not given to somebody else.
    if (!pass_.preempted.empty()) return;
    while (pass_.prompt_rows < most_prompt_rows_) {
      const auto next = next_waiting();
      if (next == waiting_.end()) return;
      const RequestState& request = **next;
      const std::int64_t pages = new_pages(request, request.tokens);
      if (std::ssize(admitted_) >= limits_.admitted || pages + reserve() > free_pages_) {
        // In the next pass it is known what that made free: some of it may be what this one shares with it.
        if (has_paused()) preempt_one();
        return;
      }
      free_pages_ -= pages;
      pass_.admitted.push_back(request.number);
      last_admission_[request.asker] = ++admissions_;
      if (request.next_page != 0) begun_pages_.insert(request.next_page);
      admitted_.push_back(&request);
      waiting_.erase(next);
      read_prompt(request);
    }
  }

  const ScheduleLimits& limits_;
  const PassCosts& costs_;
  std::int64_t free_pages_;
  std::int64_t admissions_;
  std::vector<const RequestState*> admitted_;
  std::vector<const RequestState*> waiting_;
  std::map<std::int64_t, std::int64_t> last_admission_;
  std::set<std::uint64_t> begun_pages_;  // of those that this pass admits
  std::int64_t rows_ = 0;
  std::int64_t most_prompt_rows_ = 0;
  std::int64_t prompt_outputs_ = 0;
  ScheduledPass pass_;
};

}  // namespace

std::int64_t prompt_rows_beside(std::int64_t decoding_rows, const ScheduleLimits& limits, const PassCosts& costs) {
  const double decoding = costs.decoding_seconds(decoding_rows);
  double target = limits.pass_seconds;
  if (decoding_rows == 0) target *= limits.stretch_alone;
  if (decoding > 0) target = std::min(target, limits.most_stretch * decoding);
  const double affordable = costs.affordable_rows(target);
  const std::int64_t most = std::clamp<std::int64_t>(limits.rows - decoding_rows, 0, limits.prompt_rows);
  if (affordable >= static_cast<double>(limits.rows)) return most;
  // All rows of the pass together in whole tiles of products, which cost as much when they are not full; and so passes
  // are of a few sizes, and the plans for them are there.
  const std::int64_t whole = std::llround(affordable / static_cast<double>(limits.tile_rows)) * limits.tile_rows;
  return std::min(most, std::max({limits.least_chunk, decoding_rows, whole - decoding_rows}));
}

std::int64_t rows_for(std::int64_t sequences, const ScheduleLimits& limits) {
  return divide_rounding_up(sequences + limits.least_chunk, limits.tile_rows) * limits.tile_rows;
}

ScheduledPass schedule(const ScheduleState& state, const ScheduleLimits& limits, const PassCosts& costs) {
  return Scheduling(state, limits, costs).run();
}

}  // namespace ingot
