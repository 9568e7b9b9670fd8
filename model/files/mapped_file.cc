#include "model/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/units.h"
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
  if (bytes.ok()) return MappedFile(bytes.value(), descriptor);
  close(descriptor);
  return bytes.error();
}

Result<void> MappedFile::read(std::span<const std::byte> part, std::byte* to) const {
  auto offset = static_cast<off_t>(part.data() - bytes_.data());
  std::size_t left = part.size();
  while (left > 0) {
    const ssize_t got = pread(descriptor_, to, left, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error::of(ErrorCode::input_output, "expected to read ", left,
                       " bytes of a file, found: ", static_cast<const char*>(std::strerror(errno)));
    }
    if (got == 0) {
      return Error::of(ErrorCode::corrupt, "expected a file of ", bytes_.size(),
                       " bytes, as when it was opened, found ", offset,
                       ": it became shorter while it was read; give it back its bytes, and begin again");
    }
    to += got;
    offset += got;
    left -= static_cast<std::size_t>(got);
  }
  return {};
}

void MappedFile::forget(std::span<const std::byte> part) const {
  if (!has(part)) return;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::uint64_t>(part.data() - bytes_.data());  // the mapping begins with a page
  const std::uint64_t first = align_up(offset, page);
  const std::uint64_t last = (offset + part.size()) / page * page;
  if (first >= last) return;
  // What the system does not take back, it keeps: nothing depends on it. A neighbour that is touched later would bring
  // the part back where both lie in one huge page, so there are to be none.
  void* begin = const_cast<std::byte*>(bytes_.data()) + first;
  madvise(begin, last - first, MADV_NOHUGEPAGE);
  madvise(begin, last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace ingot
