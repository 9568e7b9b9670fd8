#include "model/files/replaced_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "model/files/quoted.h"

namespace ingot {

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 20;
constexpr int most_attempts = 100;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<ReplacedFile> ReplacedFile::create(const std::string& path) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string temporary = path + ".partial-" + std::to_string(getpid()) + "-" + std::to_string(attempt);
    const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return ReplacedFile(path, std::move(temporary), descriptor);
    if (errno == EEXIST) continue;
    return Error::of(ErrorCode::input_output, "writing ", Quoted{path}, ": expected to create a file in its folder, ",
                     "found: ", static_cast<const char*>(std::strerror(errno)));
  }
  return Error::of(ErrorCode::input_output, "writing ", Quoted{path}, ": expected a free temporary name, found ",
                   most_attempts, " taken");
}

ReplacedFile::ReplacedFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {
  buffer_.reserve(buffer_size);
}

ReplacedFile::ReplacedFile(ReplacedFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)) {}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

Error ReplacedFile::failure(std::string_view action, int code) const {
  return Error::of(ErrorCode::input_output, "writing ", Quoted{path_}, ": expected ", action,
                   " to succeed, found: ", static_cast<const char*>(std::strerror(code)), "; no file was left behind");
}

Result<void> ReplacedFile::write_through(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failure("a write", written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> ReplacedFile::flush() {
  TRY(write_through(buffer_));
  buffer_.clear();
  return {};
}

Result<void> ReplacedFile::write(std::span<const std::byte> bytes) {
  if (bytes.size() > buffer_size - buffer_.size()) TRY(flush());
  if (bytes.size() >= buffer_size) return write_through(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void> ReplacedFile::write_zeros(std::uint64_t count) {
  static constexpr std::byte zeros[4096]{};
  while (count > 0) {
    const std::uint64_t step = count < sizeof(zeros) ? count : sizeof(zeros);
    TRY(write(std::span(zeros, step)));
    count -= step;
  }
  return {};
}

Result<void> ReplacedFile::commit() {
  TRY(flush());
  // Before the rename: otherwise a power failure may leave the new name with old or no contents.
  if (fsync(descriptor_) != 0) return failure("flushing to the disk", errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failure("the renaming", errno);
  close(std::exchange(descriptor_, -1));
  // The rename itself; some file systems cannot flush folders, and the file is whole either way.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)fsync(folder);
    close(folder);
  }
  return {};
}

}  // namespace ingot
