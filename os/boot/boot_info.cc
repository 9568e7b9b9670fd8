#include "os/boot/boot_info.h"

namespace ingot::os {

Result<void> BootInfo::add_module(PhysicalRange range) {
  if (module_count_ == module_capacity) {
    return Error::of(ErrorCode::out_of_memory, "expected at most ", module_capacity, " modules, found one more at ",
                     range.begin);
  }
  const Result<void> added = memory.add({range.begin, range.bytes, MemoryKind::image});
  if (!added.ok()) return added.error().within("module ", module_count_);
  modules_[module_count_++] = range;
  return {};
}

}  // namespace ingot::os
