// Failure: an Error on its way to Python, where it becomes an ingot.Error with the same words. The one place of the
// house that throws, because pybind11 knows no other way back.
#pragma once

#include <utility>

#include "base/result.h"

namespace ingot::python {

struct Failure {
  Error error;
};

inline void require_between(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Failure{
      Error::of(ErrorCode::out_of_range, "expected ", name, " from ", least, " to ", most, ", found ", value)};
}
inline constexpr std::int64_t most_threads = 1024;

template <class Value>
Value or_throw(Result<Value> result) {
  if (!result.ok()) throw Failure{result.error()};
  if constexpr (!std::is_void_v<Value>) return std::move(result).value();
}

}  // namespace ingot::python
