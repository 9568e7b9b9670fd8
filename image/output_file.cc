#include "image/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "image/bytes.h"

namespace ingot::image {

namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error refused(std::string_view what, const std::string& path) {
  return Error::of(ErrorCode::input_output, "expected to ", what, " '", shortened(path),
                   "', found: ", std::strerror(errno));
}

}  // namespace

Result<void> check_output_name(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::path(path).has_filename() && !std::filesystem::is_directory(path, ignored) &&
      std::filesystem::is_directory(folder_of(path), ignored)) {
    return {};
  }
  return Error::of(ErrorCode::invalid_argument, "expected a file to write, in a folder that is there, found '",
                   shortened(path), "'");
}

OutputFile::OutputFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      written_(other.written_),
      watcher_(std::move(other.watcher_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Result<OutputFile> OutputFile::create(const std::string& path, std::uint64_t expected_bytes) {
  struct stat status{};
  // Renaming would put a file in a device's place.
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return Error::of(ErrorCode::invalid_argument, "expected the name of a file to write, found a ",
                     S_ISDIR(status.st_mode) ? "directory" : "device", " at '", shortened(path), "'");
  }
  const std::string folder = folder_of(path);
  struct statvfs room{};
  if (::statvfs(folder.c_str(), &room) != 0) return refused("write into the folder", folder);
  const std::uint64_t free_bytes = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  if (free_bytes < expected_bytes) {
    return Error::of(ErrorCode::input_output, "expected ", expected_bytes >> 10, " KiB of free disk in '",
                     shortened(folder), "', found ", free_bytes >> 10, " KiB");
  }
  const std::string temporary = path + ".partial-" + std::to_string(::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return refused("create", temporary);
  return OutputFile(path, temporary, descriptor);
}

Result<void> OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return refused("write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    written_ += static_cast<std::uint64_t>(count);
    if (watcher_) watcher_(written_);
  }
  return {};
}

Result<void> OutputFile::write(const Content& content) {
  return content.each_piece([this](std::string_view piece) { return write(piece); });
}

Result<void> OutputFile::skip_to(std::uint64_t offset) {
  if (offset < written_) {
    return Error::of(ErrorCode::out_of_range, "expected to skip forward from ", written_, ", found ", offset);
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(offset)) != 0 ||
      ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) {
    return refused("write", path_);
  }
  written_ = offset;
  return {};
}

Result<void> OutputFile::replace(std::uint64_t offset, std::string_view bytes) {
  if (offset > written_ || bytes.size() > written_ - offset) {
    return Error::of(ErrorCode::out_of_range, "expected to replace some of ", written_, " bytes, found ", bytes.size(),
                     " at ", offset);
  }
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return refused("write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<void> OutputFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  const bool closed = ::close(descriptor) == 0;
  if (closed && std::rename(temporary_.c_str(), path_.c_str()) == 0) return {};
  const Error error = refused("write", path_);
  ::unlink(temporary_.c_str());
  return error;
}

}  // namespace ingot::image
