// A file as read-only memory. Weights are used where they lie: opening costs nothing but the pages that are touched.
//
// The file must not shrink while it is mapped: touching a page behind the new end kills the process (SIGBUS), which no
// check at opening can prevent. Ingot's own writers replace files by renaming, which leaves old mappings whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace ingot {

class MappedFile {
 public:
  // A regular file with at least one byte.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  bool has(std::span<const std::byte> part) const {
    return part.data() >= bytes_.data() && part.data() + part.size() <= bytes_.data() + bytes_.size();
  }
  // The same bytes by way of the file instead of memory: where it has become shorter this fails, and a touch would end
  // the process. Precondition: has(part), and `to` has room. Threads may read at once.
  Result<void> read(std::span<const std::byte> part, std::byte* to) const;
  // Gives back the memory that whole pages of `part` take; they are read from the file again where they are touched.
  // A part of other memory is left alone.
  void forget(std::span<const std::byte> part) const;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  MappedFile(std::span<const std::byte> bytes, int descriptor) : bytes_(bytes), descriptor_(descriptor) {}

  std::span<const std::byte> bytes_;
  int descriptor_ = -1;
};

}  // namespace ingot
