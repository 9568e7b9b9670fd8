// A function of a row of a variant table: its own, or one that many rows share and that is told whose it is.
//
// A lambda without captures is a row's own. Rows that differ in data alone (ways of multiplying, kernels/linear/ways)
// share one function, which costs the build one instance instead of one a row.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace ingot {

template <class Signature>
class RowFunction;

template <class Answer, class... Arguments>
class RowFunction<Answer(Arguments...)> {
 public:
  using Own = Answer (*)(Arguments...);
  using Shared = Answer (*)(const void* row, Arguments...);

  constexpr RowFunction() = default;
  constexpr RowFunction(std::nullptr_t) {}
  constexpr RowFunction(Own function) : own_(function) {}
  template <std::convertible_to<Own> Lambda>
    requires std::is_class_v<Lambda>
  constexpr RowFunction(Lambda function) : own_(function) {}
  // Precondition: the row outlives this.
  constexpr RowFunction(Shared function, const void* row) : shared_(function), row_(row) {}

  constexpr bool operator==(std::nullptr_t) const { return own_ == nullptr && shared_ == nullptr; }
  // Precondition: not null.
  Answer operator()(Arguments... arguments) const {
    return shared_ == nullptr ? own_(arguments...) : shared_(row_, arguments...);
  }

 private:
  Own own_ = nullptr;
  Shared shared_ = nullptr;
  const void* row_ = nullptr;
};

}  // namespace ingot
