#include "os/memory/page_fault.h"

#include <optional>

#include "os/memory/kernel_stack.h"

namespace ingot::os {

namespace {

// The lowest page of the stack whose guard the address lies in, if it does.
std::optional<VirtualAddress> stack_above(VirtualAddress address, const arch::Platform& platform) {
  if (address < kernel_areas_begin || address >= device_area_begin) return std::nullopt;
  const VirtualAddress end = (address + 1).rounded_up(StackSlots::slot_bytes);
  for (VirtualAddress page = address.rounded_down(page_bytes); page < end; page += page_bytes) {
    if (platform.read_word(page)) return page;
  }
  return std::nullopt;
}

}  // namespace

FixedText<160> describe(const PageFault& fault, const arch::Platform& platform) {
  const bool executes = fault.access == Access::execute, writes = fault.access == Access::write;
  FixedText<160> text;
  text.append_all(executes ? "execution of " : writes ? "write to " : "read of ", fault.address, ", expected ");
  if (fault.cause == PageFault::Cause::broken_table) {
    text.append("a valid page table, found reserved bits set");
  } else if (fault.cause == PageFault::Cause::no_right) {
    text.append(executes ? "executable memory, found data"
                : writes ? "writable memory, found a read-only page"
                         : "kernel memory, found a page of ring 3");
  } else if (fault.address.value() < page_bytes) {
    text.append("an object, found a null pointer");
  } else if (const auto stack = stack_above(fault.address, platform)) {
    text.append_all("a stack, found the guard of the one that begins at ", *stack);
  } else {
    text.append("a mapped page, found none");
  }
  return text;
}

}  // namespace ingot::os
