// Sets of adapters: which a sequence has, and passes of sequences that have different ones.
#include <algorithm>

#include "engine/session.h"

namespace ingot {

Result<void> Session::use_adapters(int sequence, std::span<const float> scales) {
  if (!memory_->has(sequence)) {
    return Error::of(ErrorCode::invalid_argument, "expected a sequence that exists, found ", sequence);
  }
  if (passes_under_way() > 0) {
    return Error::of(ErrorCode::invalid_argument, "expected no pass under way where adapters change, found ",
                     passes_under_way());
  }
  const AdapterScales set = TRY(checked_scales(scales, options_.adapters.size()));
  if (set == memory_->adapters(sequence)) return {};
  TRY(memory_->truncate(sequence, 0));
  memory_->set_adapters(sequence, set);
  return {};
}

bool Session::have_same_adapters(std::span<const TokenRun> runs) const {
  return std::ranges::all_of(runs, [&](const TokenRun& run) { return adapters_of(run) == adapters_of(runs.front()); });
}

Result<void> Session::compute_sets(std::span<const TokenRun> runs, std::vector<float>& outputs) {
  std::vector<std::vector<float>> of_runs(runs.size());
  std::vector<bool> is_done(runs.size(), false);
  for (std::size_t first = 0; first < runs.size(); ++first) {
    if (is_done[first]) continue;
    std::vector<TokenRun> set;
    std::vector<std::size_t> places;
    for (std::size_t at = first; at < runs.size(); ++at) {
      if (is_done[at] || adapters_of(runs[at]) != adapters_of(runs[first])) continue;
      set.push_back(runs[at]);
      places.push_back(at);
      is_done[at] = true;
    }
    std::vector<float> rows;
    TRY(compute(set, rows));
    auto row = rows.begin();
    for (std::size_t index = 0; index < set.size(); ++index) {
      const auto end = row + static_cast<std::ptrdiff_t>(outputs_of(set[index]) * output_width());
      of_runs[places[index]].assign(row, end);
      row = end;
    }
  }
  for (const std::vector<float>& rows : of_runs) outputs.insert(outputs.end(), rows.begin(), rows.end());
  return {};
}

}  // namespace ingot
