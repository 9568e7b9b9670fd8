// Gzip (RFC 1952) and what it packs (deflate, RFC 1951). Written here because layers of OCI images are the only
// compressed bytes that Ingot reads, and the program is built for machines that have no zlib for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot::image {

// All members of a gzip file, one behind the other. Sums and lengths are checked; more than `limit` bytes are an error,
// so that a few bytes cannot ask for all memory.
Result<std::string> unpack_gzip(std::string_view packed, std::uint64_t limit);

std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace ingot::image
