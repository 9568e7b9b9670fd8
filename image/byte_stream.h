// ByteStream: bytes that come one behind the other, once. Layers of images are read through it, so that what is packed
// is never held unpacked as a whole.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot::image {

class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Fills the front of `into` and says how much of it; 0 is the end. Precondition: `into` is not empty.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

// A piece of a stream at a time, for those who take a few bytes of it.
class StreamPieces {
 public:
  explicit StreamPieces(ByteStream& source) : source_(source), buffer_(std::size_t{128} << 10) {}

  // What was read and not taken. Empty only at the end.
  Result<std::string_view> rest() {
    if (taken_ == filled_) {
      filled_ = TRY(source_.read(buffer_));
      taken_ = 0;
    }
    return std::string_view(buffer_.data() + taken_, filled_ - taken_);
  }
  // Precondition: so many are left.
  void take(std::size_t bytes) { taken_ += bytes; }

 private:
  ByteStream& source_;
  std::vector<char> buffer_;
  std::size_t taken_ = 0, filled_ = 0;
};

}  // namespace ingot::image
