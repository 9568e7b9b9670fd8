// The learning rate of every update. Updates are numbered from 0, so that `step` is also the number of those done.
//
//   step < warmup                 peak * (step + 1) / warmup
//   otherwise, with  p = (step - warmup) / (steps - 1 - warmup)   within [0, 1], 0 where nothing is left to divide by
//     constant                    peak
//     linear                      least + (peak - least) * (1 - p)
//     cosine                      least + (peak - least) * (1 + cos(pi * p)) / 2
//
// So the last update of the warm-up and the first one after it have the peak, the last of all and any later has least.
// The cosine is computed here, because the libraries of two machines may round theirs differently.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace ingot {

enum class ScheduleKind : std::uint8_t { cosine, linear, constant };

// In the enumeration's order.
inline constexpr std::array<std::string_view, 3> schedule_kind_names = {"cosine", "linear", "constant"};

struct LearningRateSchedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 1e-3;
  double least = 1e-4;
  std::int64_t warmup = 0;
  std::int64_t steps = 1;

  bool operator==(const LearningRateSchedule&) const = default;
};

// Finite rates with 0 <= least <= peak and 0 < peak, and 0 <= warmup <= steps, 1 <= steps.
Result<void> check_schedule(const LearningRateSchedule& schedule);

// Precondition: check_schedule(schedule) holds and step >= 0.
double learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step);

}  // namespace ingot
