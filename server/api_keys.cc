#include "server/api_keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "server/http/letters.h"

namespace ingot {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

bool is_visible(char letter) { return letter > ' ' && letter < 0x7f; }

// Looks at every byte, whatever the first ones were.
bool is_equal(std::string_view key, std::string_view given) {
  unsigned difference = key.size() == given.size() ? 0 : 1;
  for (std::size_t index = 0; index < given.size(); ++index) {
    difference |= static_cast<unsigned char>(key[index % key.size()]) ^ static_cast<unsigned char>(given[index]);
  }
  return difference == 0;
}

class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Result<std::string> read_private(const std::string& path) {
  const File file(path);
  struct stat facts = {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &facts) != 0) {
    return Error::of(ErrorCode::input_output, "expected to read the key file ", path,
                     ", found: ", std::strerror(errno));
  }
  if ((facts.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    return Error::of(ErrorCode::denied,
                     "expected a key file that its owner alone can read, found that others can read ", path,
                     ": chmod 600 ", path);
  }
  std::string text;
  std::array<char, 4096> piece;
  while (const ssize_t count = ::read(file.descriptor(), piece.data(), piece.size())) {
    if (count < 0) {
      return Error::of(ErrorCode::input_output, "expected to read the key file ", path,
                       ", found: ", std::strerror(errno));
    }
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > most_bytes) {
      return Error::of(ErrorCode::out_of_range, "expected a key file of at most ", most_bytes, " bytes, found more in ",
                       path);
    }
  }
  return text;
}

std::optional<std::string_view> key_of(const http::Request& request) {
  if (const std::string* key = request.header("X-Api-Key")) return *key;
  const std::string* authorization = request.header("Authorization");
  if (authorization == nullptr) return std::nullopt;
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = *authorization;
  if (!http::is_same_name(scheme, given.substr(0, scheme.size()))) return std::nullopt;
  return given.substr(scheme.size());
}

}  // namespace

Result<ApiKeys> ApiKeys::read(const std::string& path) {
  const std::string text = TRY(read_private(path));
  ApiKeys keys;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    std::string_view key = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (key.ends_with('\r')) key.remove_suffix(1);
    if (key.empty() || key.starts_with('#')) continue;
    if (!std::ranges::all_of(key, is_visible)) {
      return Error::of(ErrorCode::invalid_argument, "expected a key of visible ASCII letters on line ", line, " of ",
                       path, ", found others");
    }
    keys.keys_.emplace_back(key);
  }
  if (keys.keys_.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected at least one key in ", path, ", found none");
  }
  return keys;
}

std::optional<std::size_t> ApiKeys::find(const http::Request& request) const {
  const std::optional<std::string_view> given = key_of(request);
  return given ? find_key(*given) : std::nullopt;
}

bool ApiKeys::has_any(const http::Request& request) { return key_of(request).has_value(); }

std::optional<std::size_t> ApiKeys::find_key(std::string_view given) const {
  std::optional<std::size_t> found;
  for (std::size_t index = 0; index < keys_.size(); ++index) {
    if (is_equal(keys_[index], given)) found = index;
  }
  return found;
}

}  // namespace ingot
