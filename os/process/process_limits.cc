// Where a program's limits take effect.
#include "os/boot/kernel.h"
#include "os/process/process.h"

namespace ingot::os {

void Process::start_limits() {
  limits_.with([&](ResourceLimits& limits) {
    limits.start(Resource::stack, {first_stack_bytes, first_stack_bytes});
    limits.start(Resource::open_files, {files_->descriptors().limit(), DescriptorTable::largest_limit});
  });
}

void Process::limit_descriptors(std::uint32_t most) {
  files_->descriptors().set_limit(most);
  limits_.with([&](ResourceLimits& limits) { limits.start(Resource::open_files, {most, most}); });
}

ResourceLimit Process::limit_of(Resource resource) {
  return limits_.with([&](ResourceLimits& limits) { return limits.of(resource); });
}

Answer<void> Process::change_limit(Resource resource, const ResourceLimit& wanted) {
  const MutexGuard guard(changing_limits_);  // two that change one at a time must not leave half of each
  TRY(limits_.with([&](ResourceLimits& limits) { return limits.change(resource, wanted); }));
  switch (resource) {
    case Resource::open_files: files_->descriptors().set_limit(static_cast<std::uint32_t>(wanted.current)); break;
    case Resource::address_space: memory_->account().limit_addresses(wanted.current); break;
    case Resource::file_size: most_file_bytes_.store(wanted.current, MemoryOrder::relaxed); break;
    case Resource::processor_time: timers_.limit_processor_time(wanted.current, wanted.most); break;
    default: break;  // kept and told
  }
  return {};
}

}  // namespace ingot::os
