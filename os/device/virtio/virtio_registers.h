// VirtioRegisters: a range of a device's registers of one, two or four bytes, each reached by its own width, as virtio
// demands. A test stands in for it.
#pragma once

#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os {

class VirtioRegisters {
 public:
  // `bytes` is 1, 2 or 4, and the register lies inside.
  virtual std::uint32_t read(std::uint32_t offset, std::uint32_t bytes) const = 0;
  virtual void write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value) = 0;
  // How many bytes there are.
  virtual std::uint32_t size() const = 0;

  bool has(std::uint64_t offset, std::uint32_t bytes) const { return offset <= size() && bytes <= size() - offset; }

 protected:
  ~VirtioRegisters() = default;
};

// Mapped uncached.
class MappedVirtioRegisters final : public VirtioRegisters {
 public:
  MappedVirtioRegisters() = default;
  MappedVirtioRegisters(VirtualAddress begin, std::uint32_t size) : begin_(begin.value()), size_(size) {}

  std::uint32_t read(std::uint32_t offset, std::uint32_t bytes) const override {
    if (bytes == 1) return at<std::uint8_t>(offset);
    return bytes == 2 ? at<std::uint16_t>(offset) : at<std::uint32_t>(offset);
  }
  void write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value) override {
    if (bytes == 1) at<std::uint8_t>(offset) = static_cast<std::uint8_t>(value);
    if (bytes == 2) at<std::uint16_t>(offset) = static_cast<std::uint16_t>(value);
    if (bytes == 4) at<std::uint32_t>(offset) = value;
  }
  std::uint32_t size() const override { return size_; }

 private:
  template <class Number>
  volatile Number& at(std::uint32_t offset) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the page table gave a meaning
    return *reinterpret_cast<volatile Number*>(begin_ + offset);
  }
  std::uintptr_t begin_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace ingot::os
