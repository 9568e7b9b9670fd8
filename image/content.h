// Content: what a file of the image holds, in memory or still in a file of the host. Models are copied, not loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "image/byte_stream.h"

namespace ingot::image {

class Content {
 public:
  Content() : bytes_(std::make_shared<const std::string>()) {}
  static Content of_bytes(std::string bytes);
  // A whole file. Fails if there is none, if it cannot be read, or if it is not a regular file.
  static Result<Content> of_file(const std::string& path);

  std::uint64_t size() const { return size_; }
  // The file of the host that it still lies in; empty: it is in memory.
  const std::string& host_path() const { return path_; }
  // Some of it, still where it is. Fails past the end.
  Result<Content> part(std::uint64_t offset, std::uint64_t bytes) const;
  // The same bytes, which whoever reads all of them finds again: where others have come in their place, the end of the
  // reading is an error. `digest`: 64 hexadecimal digits, of SHA-256.
  Content with_digest(std::string digest) const;
  // Calls use(piece) until all was seen; stops at use's first error. A file that has become shorter is an error.
  Result<void> each_piece(const std::function<Result<void>(std::string_view)>& use) const;
  // The same as a stream, which lives by itself.
  Result<std::unique_ptr<ByteStream>> open() const;
  // All of it at once; fails where it is larger than `limit`.
  Result<std::string> read(std::uint64_t limit) const;

 private:
  std::shared_ptr<const std::string> bytes_;  // null: in the file
  std::string path_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
  std::string digest_;  // empty: whatever is there
};

}  // namespace ingot::image
