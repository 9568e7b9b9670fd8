// A boot disc with GRUB, made by Debian's grub-mkrescue: for machines without UEFI.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace ingot::image {

// `write_kernel` writes the cast ELF image of `kernel_bytes` under the path it is given. Says how many bytes the disc
// has. Fails with the package's name where GRUB is missing.
Result<std::uint64_t> write_iso(const std::string& output, const std::string& options,
                                const std::function<Result<void>(const std::string&)>& write_kernel,
                                std::uint64_t kernel_bytes);

}  // namespace ingot::image
