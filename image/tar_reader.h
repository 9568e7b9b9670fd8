// Tar archives: the ustar form with the long names of pax and GNU, as layers of OCI images have them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/content.h"

namespace ingot::image {

inline constexpr std::size_t tar_block_bytes = 512;  // headers and contents take whole ones

struct TarEntry {
  enum class Kind : std::uint8_t { file, hard_link, symbolic_link, directory, device };

  Kind kind = Kind::file;
  std::string path;    // as the archive spells it
  std::string target;  // of a link
  std::uint32_t mode = 0;
  Content content;  // of a file
};

// All entries, in order. The contents stay where the archive is.
Result<std::vector<TarEntry>> read_tar(const Content& archive);
// The same of a stream, up to the block that ends the archive. Contents of files are kept in memory, and nothing else.
Result<std::vector<TarEntry>> read_tar(ByteStream& archive);
// The same where the stream's bytes lie in `place`: files from `stays_from` bytes on stay there, with the digest of
// what the stream had of them. hold(bytes) is asked before a smaller one is taken into memory.
using HoldBytes = std::function<Result<void>(std::uint64_t)>;
Result<std::vector<TarEntry>> read_tar(ByteStream& archive, const Content& place, std::uint64_t stays_from,
                                       const HoldBytes& hold);

}  // namespace ingot::image
