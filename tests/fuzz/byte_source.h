// Turns a fuzzer's bytes into decisions. When they run out, every further decision is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ingot {

class ByteSource {
 public:
  ByteSource(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }

  template <class Number>
  Number take() {
    Number number{};
    const std::size_t count = size_ < sizeof(number) ? size_ : sizeof(number);
    std::memcpy(&number, data_, count);
    data_ += count;
    size_ -= count;
    return number;
  }
  // In [low, high].
  std::int64_t take_between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(take<std::uint8_t>()) % (high - low + 1);
  }
  const std::uint8_t* rest() const { return data_; }
  std::size_t rest_size() const { return size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace ingot
