#include "os/memory/memory_object.h"

#include <utility>

#include "os/memory/address_space.h"
#include "os/schedule/scheduler.h"

namespace ingot::os {

namespace {

bool executes(const Region& region) {
  return allows(region.access, Access::execute) && !region.space->allows_writable_code();
}
bool writes(const Region& region) { return region.sharing == Sharing::shared && allows(region.access, Access::write); }

// Not only while it is in the list: a region without access counts nowhere.
void count(RegionsShowing& it, const Region& region, std::uint32_t change) {
  if (executes(region)) it.executable += change;
  if (writes(region)) it.writable += change;
}
constexpr std::uint32_t once = 1, no_more = 0u - once;

}  // namespace

Result<void> MemoryObject::show(Region& region, Access access) {
  return regions_.with([&](RegionsShowing& it) -> Result<void> {
    count(it, region, no_more);
    const Access before = std::exchange(region.access, access);
    const bool denied = (executes(region) && it.writable != 0) || (writes(region) && it.executable != 0);
    if (denied) region.access = before;
    count(it, region, once);
    if (denied) {
      return Error::of(ErrorCode::denied, "expected memory that is written to or executed, found ", name(),
                       " that would be both by ", access, " at ", region.begin);
    }
    if (!region.is_linked()) it.all.push_back(region);
    return {};
  });
}

void MemoryObject::hide(Region& region) {
  regions_.with([&](RegionsShowing& it) {
    count(it, region, no_more);
    it.all.remove(region);
  });
}

bool MemoryObject::begin_writing() {
  return regions_.with([](RegionsShowing& it) {
    if (it.executable != 0) return false;
    ++it.writable;
    return true;
  });
}

void MemoryObject::end_writing() {
  regions_.with([](RegionsShowing& it) { --it.writable; });
}

Result<void> MemoryObject::invalidate(std::uint64_t offset, std::uint64_t bytes) {
  Result<void> outcome;
  const auto withdraw_all = [&](RegionsShowing& it) {
    for (Region& region : it.all) {
      const std::uint64_t region_end = region.object_offset + region.bytes;
      const std::uint64_t begin = offset > region.object_offset ? offset : region.object_offset;
      const std::uint64_t end = offset + bytes < region_end ? offset + bytes : region_end;
      if (begin >= end) continue;
      const auto done = region.space->try_withdraw(region, region.begin + (begin - region.object_offset), end - begin);
      if (!done) return false;
      if (!done->ok()) outcome = done->error();
    }
    return true;
  };
  while (!regions_.with(withdraw_all)) current_scheduler().yield();
  return outcome;
}

}  // namespace ingot::os
