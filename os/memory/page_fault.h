// A page fault in words of no architecture: what was tried, what the page table said, and what a report tells of it.
#pragma once

#include <cstdint>

#include "base/text.h"
#include "os/arch/platform.h"
#include "os/memory/address.h"
#include "os/memory/page_attributes.h"

namespace ingot::os {

struct PageFault {
  enum class Cause : std::uint8_t { no_page, no_right, broken_table };

  VirtualAddress address;
  Access access = Access::read;  // what was tried: one of read, write, execute
  Cause cause = Cause::no_page;
};

// For a panic: it takes no lock, and follows no pointer that the page table does not confirm.
FixedText<160> describe(const PageFault& fault, const arch::Platform& platform);

}  // namespace ingot::os
