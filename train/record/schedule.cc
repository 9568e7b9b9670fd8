#include "train/record/schedule.h"

#include <cmath>

#include "train/record/number_text.h"

namespace ingot {

namespace {

// cos(x)^2 for x = pi/2 * p with p in [0, 1/2], by its power series: at pi/4 the first term left out is below 2^-58.
double half_cosine_squared(double p) {
  const double x = 1.5707963267948966 * p, negative_square = -(x * x);
  double term = 1, sum = 1;
  for (int k = 1; k <= 9; ++k) {
    term *= negative_square / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum * sum;
}

// (1 + cos(pi p)) / 2 is the square of cos(pi/2 p), and its halves mirror each other.
double raised_cosine(double p) { return p <= 0.5 ? half_cosine_squared(p) : 1 - half_cosine_squared(1 - p); }

}  // namespace

Result<void> check_schedule(const LearningRateSchedule& schedule) {
  if (!std::isfinite(schedule.peak) || schedule.peak <= 0) {
    return Error::of(ErrorCode::invalid_argument, "learning_rate: expected a finite number above 0, found ",
                     exact_text(schedule.peak));
  }
  if (!(schedule.least >= 0 && schedule.least <= schedule.peak)) {
    return Error::of(ErrorCode::invalid_argument, "least_learning_rate: expected a number from 0 to learning_rate (",
                     exact_text(schedule.peak), "), found ", exact_text(schedule.least));
  }
  if (schedule.steps < 1) {
    return Error::of(ErrorCode::invalid_argument, "steps: expected at least 1, found ", schedule.steps);
  }
  if (schedule.warmup < 0 || schedule.warmup > schedule.steps) {
    return Error::of(ErrorCode::invalid_argument, "warmup: expected from 0 to steps (", schedule.steps, "), found ",
                     schedule.warmup);
  }
  return {};
}

double learning_rate_at(const LearningRateSchedule& schedule, std::int64_t step) {
  if (step < schedule.warmup) {
    return schedule.peak * (static_cast<double>(step + 1) / static_cast<double>(schedule.warmup));
  }
  if (schedule.kind == ScheduleKind::constant) return schedule.peak;
  if (step >= schedule.steps) return schedule.least;
  const std::int64_t past = step - schedule.warmup, last = schedule.steps - 1 - schedule.warmup;
  if (past == 0) return schedule.peak;
  if (past >= last) return schedule.least;
  const double p = static_cast<double>(past) / static_cast<double>(last);
  const double share = schedule.kind == ScheduleKind::linear ? 1 - p : raised_cosine(p);
  return schedule.least + (schedule.peak - schedule.least) * share;
}

}  // namespace ingot
