// Tar archives whose bytes depend on names, modes and contents alone: the ustar form, owner and time 0, with a pax
// header in front of an entry whose name or size does not fit.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "image/file_tree.h"
#include "image/tar_reader.h"

namespace ingot::image {

using WriteBytes = std::function<Result<void>(std::string_view)>;

// The blocks in front of `bytes` of content. How many depends on that size and on the lengths of path and target, so
// that a header with another name of equal length fits in its place. Precondition: no device.
std::string tar_header(const TarEntry& entry, std::uint64_t bytes);
// Zeros behind that many bytes of content, to a whole block.
std::string_view tar_padding(std::uint64_t bytes);
// What ends an archive.
std::string_view tar_end();

// One entry with its content, which is never held as a whole.
Result<void> write_tar_entry(const TarEntry& entry, const WriteBytes& write);
// How many bytes that writes.
std::uint64_t tar_entry_bytes(const TarEntry& entry);

// A tree's nodes as entries below the archive's root: in order, folders with a '/' behind their names.
std::vector<TarEntry> tar_entries_of(const FileTree& root);

}  // namespace ingot::image
