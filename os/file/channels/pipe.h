// A pipe: bytes that one end takes and the other gives back in order.
#pragma once

#include "os/file/file_description.h"
#include "os/file/volume.h"

namespace ingot::os {

struct PipeEnds {
  Reference<FileDescription> reading, writing;
};

// `flags`: open_flag::non_blocking or nothing.
Answer<PipeEnds> make_pipe(const FileServices& services, std::uint32_t flags);

inline constexpr std::size_t pipe_bytes = 64 * 1024;
// Writes up to this size are never cut in two by another thread's.
inline constexpr std::size_t pipe_atomic_bytes = 4096;

}  // namespace ingot::os
