// Numbers inside firmware tables: little-endian, at any alignment, and perhaps not there at all.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/memory/address.h"

namespace ingot::os {

using TableBytes = std::span<const std::byte>;

// Physical memory as whoever reads tables sees it. Tables name each other by address, and firmware may be wrong: what
// is not memory becomes an error, never a fault.
class PhysicalReader {
 public:
  // They stay readable, and unchanged, while tables are parsed.
  virtual Result<TableBytes> bytes(PhysicalAddress begin, std::uint64_t count) const = 0;

 protected:
  ~PhysicalReader() = default;
};

// Precondition: the bytes lie inside.
template <std::unsigned_integral Number>
constexpr Number number_inside(TableBytes bytes, std::size_t offset) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = (number << 8) | std::to_integer<std::uint64_t>(bytes[offset + i]);
  return static_cast<Number>(number);
}

template <std::unsigned_integral Number>
Result<Number> number_at(TableBytes bytes, std::size_t offset) {
  if (offset > bytes.size() || sizeof(Number) > bytes.size() - offset) {
    return Error::of(ErrorCode::corrupt, "expected ", sizeof(Number), " bytes at ", offset,
                     " of a table, found it ends at ", bytes.size());
  }
  return number_inside<Number>(bytes, offset);
}

// For fields that later revisions added: 0 where the table is older, which is what the specification says it means.
template <std::unsigned_integral Number>
constexpr Number number_or_zero(TableBytes bytes, std::size_t offset) {
  if (offset > bytes.size() || sizeof(Number) > bytes.size() - offset) return 0;
  return number_inside<Number>(bytes, offset);
}

}  // namespace ingot::os
