// Firmware tables as tests write them: bytes at physical addresses from a first one on, sums put right on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "os/device/acpi_bytes.h"

namespace ingot::os {

// A table under construction: offsets are the specification's.
class TableBuilder {
 public:
  explicit TableBuilder(std::size_t size) : bytes_(size) {}
  // A system description table: signature, length, revision; checksum by finish().
  TableBuilder(std::string_view signature, std::size_t size) : bytes_(size) {
    text(0, signature);
    number<std::uint32_t>(4, static_cast<std::uint32_t>(size));
    number<std::uint8_t>(8, 1);
  }

  TableBuilder& text(std::size_t offset, std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) bytes_[offset + i] = static_cast<std::byte>(text[i]);
    return *this;
  }
  template <class Number>
  TableBuilder& number(std::size_t offset, Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      bytes_[offset + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    }
    return *this;
  }
  TableBuilder& append(std::initializer_list<int> values) {
    for (int value : values) bytes_.push_back(static_cast<std::byte>(value));
    return number<std::uint32_t>(4, static_cast<std::uint32_t>(bytes_.size()));
  }
  // Sets the byte at `checksum_at` so that the first `count` bytes sum to 0.
  TableBuilder& sum(std::size_t checksum_at, std::size_t count) {
    bytes_[checksum_at] = std::byte{0};
    unsigned total = 0;
    for (std::size_t i = 0; i < count; ++i) total += std::to_integer<unsigned>(bytes_[i]);
    bytes_[checksum_at] = static_cast<std::byte>(0u - total);
    return *this;
  }
  const std::vector<std::byte>& finish() { return sum(9, bytes_.size()).bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class FakeFirmware final : public PhysicalReader {
 public:
  FakeFirmware(PhysicalAddress first, std::size_t size) : first_(first), bytes_(size) {}

  void put(PhysicalAddress address, const std::vector<std::byte>& table) {
    for (std::size_t i = 0; i < table.size(); ++i) bytes_.at(address - first_ + i) = table[i];
  }
  std::vector<std::byte>& memory() { return bytes_; }

  Result<TableBytes> bytes(PhysicalAddress begin, std::uint64_t count) const override {
    if (begin < first_ || begin - first_ > bytes_.size() || count > bytes_.size() - (begin - first_)) {
      return Error::of(ErrorCode::out_of_range, "expected memory, found ", begin);
    }
    return TableBytes(bytes_).subspan(begin - first_, count);
  }

 private:
  PhysicalAddress first_;
  std::vector<std::byte> bytes_;
};

}  // namespace ingot::os
