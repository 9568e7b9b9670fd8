// Any bytes are an initramfs or an error. What is read lies inside, in order, and every path that was read is found.
#include <cstdlib>

#include "os/file/cpio.h"

using namespace ingot;
using namespace ingot::os;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool read_all(std::span<const std::byte> bytes) {
  CpioReader reader(bytes);
  const std::byte* position = bytes.data();
  while (true) {
    const Result<std::optional<CpioEntry>> next = reader.next();
    if (!next.ok()) {
      require(!next.error().text().empty());
      return false;
    }
    if (!next.value()) return true;
    const CpioEntry& entry = *next.value();
    const auto* path = reinterpret_cast<const std::byte*>(entry.path.data());
    require(path >= position && entry.content.data() > path);
    position = entry.content.data() + entry.content.size();
    require(position <= bytes.data() + bytes.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const bool whole = read_all(bytes);
  require(whole || !find_in_cpio(bytes, "init").ok());
  if (!whole) return 0;
  CpioReader reader(bytes);
  for (int count = 0; count < 8; ++count) {  // finding reads everything: not for all of a long archive
    const Result<std::optional<CpioEntry>> next = reader.next();
    if (!next.value()) break;
    require(find_in_cpio(bytes, next.value()->path).ok());
  }
  return 0;
}
