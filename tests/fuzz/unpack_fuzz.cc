// Any bytes unpack, as gzip and as zstd, to the same bytes in pieces of any size, or end with an error.
#include <algorithm>
#include <cstdlib>

#include "image/content.h"
#include "image/unpack.h"

using namespace ingot;
using namespace ingot::image;

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

struct Unpacked {
  std::string bytes;
  bool ended = false, failed = false;
};

Unpacked read_all(std::unique_ptr<ByteStream> (*unpack)(ByteStream&), const Content& packed, std::size_t step) {
  const std::unique_ptr<ByteStream> source = packed.open().value();
  const std::unique_ptr<ByteStream> stream = unpack(*source);
  Unpacked all;
  std::string piece(step, '\0');
  while (all.bytes.size() < most_bytes) {
    const Result<std::size_t> count = stream->read(piece);
    if (!count.ok() && count.error().text().empty()) std::abort();
    all.failed = !count.ok();
    all.ended = count.ok() && count.value() == 0;
    if (all.failed || all.ended) return all;
    if (count.value() > step) std::abort();
    all.bytes.append(piece, 0, count.value());
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Content packed = Content::of_bytes(std::string(reinterpret_cast<const char*>(data), size));
  for (auto* const unpack : {unpack_gzip, unpack_zstd}) {
    const Unpacked large = read_all(unpack, packed, 1 << 16), small = read_all(unpack, packed, 61);
    // Where it failed, the last piece before may be shorter.
    const std::size_t common = std::min(large.bytes.size(), small.bytes.size());
    if (large.bytes.compare(0, common, small.bytes, 0, common) != 0) std::abort();
    if (large.ended && (!small.ended || large.bytes != small.bytes)) std::abort();
  }
  return 0;
}
