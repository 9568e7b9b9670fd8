// Steps of the start-up that need a page of their own; main.cc calls them in order. A failure is a panic.
#pragma once

#include <string_view>
#include <utility>

#include "base/result.h"
#include "os/trace/panic.h"

namespace ingot::os {

template <class Value>
Value require(Result<Value> result, std::string_view step) {
  if (!result.ok()) panic(step, ": ", result.error());
  return std::move(result).value();
}

// kernel.now() works from here on.
void start_clock(Kernel& kernel);
// This CPU's timers expire from here on.
void start_timers(Kernel& kernel);
// The other CPUs run threads from here on.
void start_processors(Kernel& kernel);

}  // namespace ingot::os
