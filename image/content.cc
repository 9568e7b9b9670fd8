#include "image/content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "image/bytes.h"
#include "image/sha256.h"

namespace ingot::image {

namespace {

constexpr std::size_t piece_bytes = 1 << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Error cannot_read(const std::string& path) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::input_output;
  return Error::of(code, "expected a file that can be read, found '", shortened(path), "': ", std::strerror(errno));
}

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::shared_ptr<const std::string> bytes, std::uint64_t offset, std::uint64_t size)
      : bytes_(std::move(bytes)), rest_(std::string_view(*bytes_).substr(offset, size)) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = rest_.copy(into.data(), into.size());
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::string_view rest_;
};

class FileStream final : public ByteStream {
 public:
  FileStream(Descriptor file, std::string path, std::uint64_t offset, std::uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), offset_(offset), size_(size) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t wanted = std::min<std::uint64_t>(into.size(), size_ - done_);
    if (wanted == 0) return std::size_t{0};
    ssize_t got = 0;
    do {
      got = ::pread(file_.number(), into.data(), wanted, static_cast<off_t>(offset_ + done_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) return cannot_read(path_);
    if (got == 0) {
      return Error::of(ErrorCode::input_output, "expected ", size_, " bytes in '", shortened(path_), "', found ", done_,
                       ": it has become shorter");
    }
    done_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }

 private:
  Descriptor file_;
  std::string path_;
  std::uint64_t offset_, size_, done_ = 0;
};

// Holds what comes against a digest, at its end.
class CheckedStream final : public ByteStream {
 public:
  CheckedStream(std::unique_ptr<ByteStream> source, std::string path, std::string digest)
      : source_(std::move(source)), path_(std::move(path)), digest_(std::move(digest)) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = TRY(source_->read(into));
    sum_.add(std::string_view(into.data(), count));
    if (count != 0 || is_checked_) return count;
    is_checked_ = true;
    if (sum_.finish() == digest_) return count;
    return Error::of(ErrorCode::corrupt, "expected the bytes in '", shortened(path_),
                     "' that were there when its digest was checked, found others: it was changed meanwhile");
  }

 private:
  std::unique_ptr<ByteStream> source_;
  std::string path_, digest_;
  Sha256 sum_;
  bool is_checked_ = false;
};

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
  if (bytes != size_) content.digest_.clear();
  return content;
}

Content Content::with_digest(std::string digest) const {
  Content content = *this;
  content.digest_ = std::move(digest);
  return content;
}

Result<std::unique_ptr<ByteStream>> Content::open() const {
  if (bytes_ != nullptr) return std::unique_ptr<ByteStream>(new MemoryStream(bytes_, offset_, size_));
  Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return cannot_read(path_);
  std::unique_ptr<ByteStream> stream = std::make_unique<FileStream>(std::move(file), path_, offset_, size_);
  if (digest_.empty()) return stream;
  return std::unique_ptr<ByteStream>(new CheckedStream(std::move(stream), path_, digest_));
}

Result<void> Content::each_piece(const std::function<Result<void>(std::string_view)>& use) const {
  if (bytes_ != nullptr) return size_ == 0 ? Result<void>() : use(std::string_view(*bytes_).substr(offset_, size_));
  const std::unique_ptr<ByteStream> stream = TRY(open());
  std::string piece(std::max<std::uint64_t>(std::min<std::uint64_t>(piece_bytes, size_), 1), '\0');
  while (const std::size_t got = TRY(stream->read(piece))) TRY(use(std::string_view(piece).substr(0, got)));
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
