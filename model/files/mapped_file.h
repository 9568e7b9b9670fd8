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

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  // Gives back the memory that whole pages of `part` take; they are read from the file again where they are touched.
  // A part of other memory is left alone.
  void forget(std::span<const std::byte> part) const;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace ingot
