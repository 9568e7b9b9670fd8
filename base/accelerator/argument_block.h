// The arguments of a dispatch, as bytes: a header, then a record for each field of the contract, in the contract's
// order. The digest of the contract says which fields there are; nothing here knows one.
//
// All that a record does not use is zero, so that two equal calls are equal bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace ingot::accelerator {

inline constexpr std::size_t most_axes = 6;
inline constexpr std::size_t most_fields = 64;

enum class ArgumentKind : std::uint8_t {
  absent = 0,   // an optional tensor that was left out
  tensor = 1,   // value: the client's address of the first element
  flag = 2,     // value: 0 or 1
  integer = 3,  // value: 64 bits, signed
  number = 4,   // value: the bits of a double
};

struct ArgumentHeader {
  std::uint32_t bytes = 0;  // of the whole block
  std::uint32_t fields = 0;
  std::uint64_t reserved = 0;
};

struct ArgumentRecord {
  ArgumentKind kind = ArgumentKind::absent;
  std::uint8_t dtype = 0;
  std::uint8_t rank = 0;
  std::uint8_t reserved0 = 0;
  std::uint32_t reserved1 = 0;
  std::uint64_t value = 0;
  std::array<std::int64_t, most_axes> sizes{};
  std::array<std::int64_t, most_axes> byte_strides{};
};
static_assert(sizeof(ArgumentHeader) == 16 && sizeof(ArgumentRecord) == 112);

constexpr std::size_t block_bytes_of(std::size_t fields) {
  return sizeof(ArgumentHeader) + fields * sizeof(ArgumentRecord);
}
inline constexpr std::size_t most_block_bytes = block_bytes_of(most_fields);

// How long the block is that begins with this header; fails where none can begin so.
inline Result<std::size_t> checked_block_bytes(const ArgumentHeader& header) {
  if (header.fields > most_fields || header.bytes != block_bytes_of(header.fields) || header.reserved != 0) {
    return Error::of(ErrorCode::invalid_argument, "arguments: expected up to ", most_fields, " fields of ",
                     sizeof(ArgumentRecord), " bytes behind a header of ", sizeof(ArgumentHeader), ", found ",
                     header.fields, " fields in ", header.bytes, " bytes, reserved ", header.reserved);
  }
  return std::size_t{header.bytes};
}

inline Result<void> check_record(const ArgumentRecord& record) {
  const bool is_tensor = record.kind == ArgumentKind::tensor;
  const std::size_t axes = is_tensor ? record.rank : 0;
  bool is_clean = record.reserved0 == 0 && record.reserved1 == 0 && axes <= most_axes;
  if (!is_tensor) is_clean = is_clean && record.rank == 0 && record.dtype == 0;
  for (std::size_t axis = axes; is_clean && axis < most_axes; ++axis) {
    is_clean = record.sizes[axis] == 0 && record.byte_strides[axis] == 0;
  }
  switch (record.kind) {
    case ArgumentKind::absent: is_clean = is_clean && record.value == 0; break;
    case ArgumentKind::flag: is_clean = is_clean && record.value <= 1; break;
    case ArgumentKind::tensor:
    case ArgumentKind::integer:
    case ArgumentKind::number: break;
    default: is_clean = false;
  }
  if (is_clean) return {};
  return Error::of(ErrorCode::invalid_argument, "arguments: expected a record of kind 0 to 4 and up to ", most_axes,
                   " axes whose unused bytes are 0, found kind ", static_cast<int>(record.kind), ", ",
                   static_cast<int>(record.rank), " axes, value ", record.value);
}

// A block whose header and records keep the rules above.
class ArgumentBlock {
 public:
  // Precondition: `bytes` are nobody else's: what is checked stays.
  static Result<ArgumentBlock> over(std::span<const std::byte> bytes) {
    ArgumentHeader header;
    if (bytes.size() < sizeof header) {
      return Error::of(ErrorCode::invalid_argument, "arguments: expected at least ", sizeof header, " bytes, found ",
                       bytes.size());
    }
    __builtin_memcpy(&header, bytes.data(), sizeof header);
    const std::size_t expected = TRY(checked_block_bytes(header));
    if (bytes.size() != expected) {
      return Error::of(ErrorCode::invalid_argument, "arguments: expected ", expected, " bytes, found ", bytes.size());
    }
    const ArgumentBlock block(bytes, header.fields);
    for (std::size_t field = 0; field < header.fields; ++field) TRY(check_record(block.record(field)));
    return block;
  }

  std::size_t fields() const { return fields_; }
  ArgumentRecord record(std::size_t field) const {
    ArgumentRecord copied;
    __builtin_memcpy(&copied, bytes_.data() + block_bytes_of(field), sizeof copied);
    return copied;
  }

 private:
  ArgumentBlock(std::span<const std::byte> bytes, std::size_t fields) : bytes_(bytes), fields_(fields) {}
  std::span<const std::byte> bytes_;
  std::size_t fields_;
};

}  // namespace ingot::accelerator
