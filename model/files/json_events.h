// JSON as a sequence of events, so that nothing is built but what the visitor wants, and hostile nesting costs neither
// stack nor memory. Only UTF-8 text without a byte order mark is JSON.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace ingot {

class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual Result<void> begin_object() = 0;
  virtual Result<void> key(std::string_view name) = 0;
  virtual Result<void> end_object() = 0;
  virtual Result<void> begin_array() = 0;
  virtual Result<void> end_array() = 0;
  virtual Result<void> text(std::string_view value) = 0;
  virtual Result<void> integer(std::int64_t value) = 0;  // with a minus sign
  virtual Result<void> unsigned_integer(std::uint64_t value) = 0;
  virtual Result<void> number(double value) = 0;  // with a fraction or an exponent, or too large for an integer
  virtual Result<void> boolean(bool value) = 0;
  virtual Result<void> null() = 0;
};

// Stops at the visitor's first error, or at an error of its own: text that is not JSON, or nested deeper than allowed.
Result<void> read_json(std::string_view json, JsonVisitor& visitor, int deepest);

}  // namespace ingot
