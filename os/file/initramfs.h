// The initramfs: a tree of names over the archive's bytes, which stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "os/file/image_file.h"
#include "os/file/memory_directory.h"

namespace ingot::os {

struct InitramfsCounts {
  std::uint64_t files = 0, directories = 0, links = 0, hard_links = 0;
  std::uint64_t passed_over = 0;  // devices, pipes and sockets: a program gets those that it was granted, elsewhere
};

// Adds all that the archives hold to `root`. What they say later holds; directories they forget are made. `physical`:
// where their first byte lies, if mappings shall show it. The path `hidden` is left out: the kernel's own.
Result<InitramfsCounts> add_initramfs(MemoryDirectory& root, std::span<const std::byte> archives,
                                      std::optional<PhysicalAddress> physical, std::string_view hidden);

// One more file, at a path from the root; what was there is replaced.
Result<void> add_image_file(MemoryDirectory& root, std::string_view path, NameStorage storage,
                            const ImageContent& content, std::uint32_t permissions);

}  // namespace ingot::os
