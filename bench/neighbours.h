// Two programs' ways of doing one thing, run in turn, so that whatever else the machine does falls on both: wall time,
// because their threads are many, and the ratio of neighbours in time.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace ingot {

struct BusyNeighbours {
  std::vector<double> ours, theirs;  // seconds

  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
  // Their time over ours: above 1, ours is faster.
  std::vector<double> ratios() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < ours.size(); ++i) all.push_back(theirs[i] / ours[i]);
    return all;
  }
};

// For about `seconds` in all, five rounds at least; who begins alternates.
template <class Ours, class Theirs>
BusyNeighbours run_in_turn(Ours&& ours, Theirs&& theirs, double seconds) {
  using Clock = std::chrono::steady_clock;
  auto call = [](auto& body) {
    const auto begin = Clock::now();
    body();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  auto time = [&](auto& body) {
    // Threads that slept wake on the caller's CPU, and the scheduler takes a tick or two to give each its own: calls
    // that are shorter are timed after others.
    double warm = call(body);
    double spent = warm;
    while (warm < 0.02) warm += call(body);
    if (spent < 0.02) spent = call(body);
    usleep(10000);  // until the other side's threads would sleep
    return spent;
  };
  BusyNeighbours times;
  for (double spent = 0; spent < seconds || times.ours.size() < 5;) {
    const bool ours_first = times.ours.size() % 2 == 0;
    if (ours_first) times.ours.push_back(time(ours));
    times.theirs.push_back(time(theirs));
    if (!ours_first) times.ours.push_back(time(ours));
    spent += times.ours.back() + times.theirs.back();
  }
  return times;
}

}  // namespace ingot
