// The parts of a cast image, as the kernel finds them: base/image/image_table.h says how they get into its data.
#pragma once

#include "base/image/image_table.h"
#include "os/boot/boot_info.h"

namespace ingot::os {

// Filled in the image's file or by the loader, never by the kernel: read it once, with add_cast_image.
extern "C" ImageTable ingot_image_table;

// Adds bundle and segments to the modules, where there are any; boot_info.image() then tells them. Each must lie at its
// alignment in memory that is still usable, so not over another part. Before the kernel moves: it must not move there.
// Precondition: the loader's memory map has been read.
Result<void> add_cast_image(const ImageTable& table, BootInfo& boot_info);

}  // namespace ingot::os
