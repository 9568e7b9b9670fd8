// Two things timed in turn, so that whatever else the machine does falls on both.
#pragma once

#include <time.h>

#include <vector>

#include "profile/statistics.h"

namespace ingot {

// The thread's own time: what other processes take of the core does not count.
inline double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Body>
double seconds_of(Body&& body, int rounds) {
  const double begin = thread_seconds();
  for (int round = 0; round < rounds; ++round) body();
  return (thread_seconds() - begin) / rounds;
}

struct TimedPair {
  Summary first;
  Summary second;
  double ratio() const { return first.median / second.median; }  // how much faster the second is
};

// One warm-up of each, then `repeats` samples of `rounds` calls, alternating.
template <class First, class Second>
TimedPair time_in_turn(First&& first, Second&& second, int repeats, int rounds) {
  std::vector<double> first_samples;
  std::vector<double> second_samples;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    const double one = seconds_of(first, rounds);
    const double other = seconds_of(second, rounds);
    if (repeat < 0) continue;  // pages and clocks have settled
    first_samples.push_back(one);
    second_samples.push_back(other);
  }
  return {summarise(first_samples), summarise(second_samples)};
}

}  // namespace ingot
