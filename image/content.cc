#include "image/content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "image/bytes.h"

namespace ingot::image {

namespace {

constexpr std::size_t piece_bytes = 1 << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Error cannot_read(const std::string& path) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::input_output;
  return Error::of(code, "expected a file that can be read, found '", shortened(path), "': ", std::strerror(errno));
}

}  // namespace

Content Content::of_bytes(std::string bytes) {
  Content content;
  content.size_ = bytes.size();
  content.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  return content;
}

Result<Content> Content::of_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe would not open else
  struct stat status{};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0) return cannot_read(path);
  if (!S_ISREG(status.st_mode)) {
    return Error::of(ErrorCode::invalid_argument, "expected a regular file, found another kind at '", shortened(path),
                     "'");
  }
  Content content;
  content.bytes_ = nullptr;
  content.path_ = path;
  content.size_ = static_cast<std::uint64_t>(status.st_size);
  return content;
}

Result<Content> Content::part(std::uint64_t offset, std::uint64_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    return Error::of(ErrorCode::corrupt, "expected ", bytes, " bytes at ", offset, ", found the end at ", size_);
  }
  Content content = *this;
  content.offset_ = offset_ + offset;
  content.size_ = bytes;
  return content;
}

Result<void> Content::each_piece(const std::function<Result<void>(std::string_view)>& use) const {
  if (bytes_ != nullptr) return size_ == 0 ? Result<void>() : use(std::string_view(*bytes_).substr(offset_, size_));
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return cannot_read(path_);
  std::string piece(std::min<std::uint64_t>(piece_bytes, size_), '\0');
  for (std::uint64_t done = 0; done < size_;) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), size_ - done);
    const ssize_t got = ::pread(file.number(), piece.data(), wanted, static_cast<off_t>(offset_ + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path_);
    if (got == 0) {
      return Error::of(ErrorCode::input_output, "expected ", size_, " bytes in '", shortened(path_), "', found ", done,
                       ": it has become shorter");
    }
    TRY(use(std::string_view(piece).substr(0, static_cast<std::size_t>(got))));
    done += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::string> Content::read(std::uint64_t limit) const {
  if (size_ > limit) {
    return Error::of(ErrorCode::unsupported, "expected at most ", limit, " bytes, found ", size_);
  }
  std::string all;
  all.reserve(size_);
  TRY(each_piece([&](std::string_view piece) -> Result<void> {
    all += piece;
    return {};
  }));
  return all;
}

}  // namespace ingot::image
