#include "model/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/files/quoted.h"

namespace ingot {

namespace {

Error system_error(const std::string& path, std::string_view action, int code) {
  return Error::of(code == ENOENT ? ErrorCode::not_found : ErrorCode::input_output, Quoted{path},
                   ": expected a file that can be ", action,
                   ", found: ", static_cast<const char*>(std::strerror(code)));
}

Result<std::span<const std::byte>> map(const std::string& path, int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return system_error(path, "examined", errno);
  if (!S_ISREG(status.st_mode)) {
    return Error::of(ErrorCode::input_output, Quoted{path}, ": expected a regular file, found ",
                     S_ISDIR(status.st_mode) ? "a folder" : "a device or pipe");
  }
  if (status.st_size == 0) return Error::of(ErrorCode::corrupt, Quoted{path}, ": expected data, found an empty file");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return system_error(path, "mapped", errno);
  return std::span(static_cast<const std::byte*>(address), size);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe of that name would hang the opening.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_error(path, "opened", errno);
  Result<std::span<const std::byte>> bytes = map(path, descriptor);
  close(descriptor);  // the mapping stays
  if (!bytes.ok()) return bytes.error();
  return MappedFile(bytes.value());
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace ingot
