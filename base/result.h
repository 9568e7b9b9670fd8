// Result<T>: a value or an Error. Fallible functions return it; nothing throws across a floor.
//
//   Result<Header> read_header(Bytes bytes);
//   Header header = TRY(read_header(bytes));   // returns the error to our caller
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "base/error.h"

namespace ingot {

template <class Value>
class [[nodiscard]] Result {
 public:
  Result(Value value) : has_value_(true) { std::construct_at(&value_, std::move(value)); }
  Result(Error error) : has_value_(false) { std::construct_at(&error_, error); }

  Result(Result&& other) noexcept : has_value_(other.has_value_) { take(std::move(other)); }
  Result& operator=(Result&& other) noexcept {
    if (this == &other) return *this;
    destroy();
    has_value_ = other.has_value_;
    take(std::move(other));
    return *this;
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { destroy(); }

  bool ok() const { return has_value_; }
  explicit operator bool() const { return has_value_; }

  // Precondition: ok(). A wrong call is a bug in the caller, so it traps instead of returning garbage.
  Value& value() & {
    if (!has_value_) __builtin_trap();
    return value_;
  }
  const Value& value() const& {
    if (!has_value_) __builtin_trap();
    return value_;
  }
  Value&& value() && {
    if (!has_value_) __builtin_trap();
    return std::move(value_);
  }
  // Precondition: !ok().
  const Error& error() const {
    if (has_value_) __builtin_trap();
    return error_;
  }

 private:
  void take(Result&& other) {
    if (has_value_) {
      std::construct_at(&value_, std::move(other.value_));
    } else {
      std::construct_at(&error_, other.error_);
    }
  }
  void destroy() {
    if (has_value_) {
      value_.~Value();
    } else {
      error_.~Error();
    }
  }

  union {
    Value value_;
    Error error_;
  };
  bool has_value_;
};

// Success costs one flag: the error's text is only built when there is one.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() : has_value_(true) {}
  Result(Error error) : has_value_(false) { std::construct_at(&error_, error); }

  bool ok() const { return has_value_; }
  explicit operator bool() const { return has_value_; }
  void value() const {
    if (!has_value_) __builtin_trap();
  }
  const Error& error() const {
    if (has_value_) __builtin_trap();
    return error_;
  }

 private:
  union {
    Error error_;
  };
  bool has_value_;
};

}  // namespace ingot

// A statement expression (a GNU extension that g++ and clang share), because no standard expression can return from the
// enclosing function.
#define TRY(expression)                                          \
  __extension__({                                                \
    auto ingot_try_result = (expression);                        \
    if (!ingot_try_result.ok()) return ingot_try_result.error(); \
    std::move(ingot_try_result).value();                         \
  })
