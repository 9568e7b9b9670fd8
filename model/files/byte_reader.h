// Reads little-endian fields one after the other and never past the end: a field that is not there is a named error.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/result.h"

namespace ingot {

static_assert(std::endian::native == std::endian::little, "files are little endian and are used where they lie");

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return bytes_.size() - position_; }

  template <class Number>
  Result<Number> take(std::string_view field) {
    const std::span<const std::byte> bytes = TRY(take_bytes(sizeof(Number), field));
    Number number;
    std::memcpy(&number, bytes.data(), sizeof(Number));
    return number;
  }

  Result<std::span<const std::byte>> take_bytes(std::uint64_t count, std::string_view field) {
    if (count > remaining()) {
      return Error::of(ErrorCode::corrupt, "expected ", count, " bytes of ", field, " at byte ", position_,
                       ", found the end of the file after ", remaining());
    }
    const std::span<const std::byte> taken = bytes_.subspan(position_, count);
    position_ += count;
    return taken;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace ingot
