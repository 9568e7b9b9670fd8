// MemoryAccount: who is told what an address space comes to, and may refuse it; this one lets everything pass. The
// space's lock is held.
#pragma once

#include "os/memory/region.h"

namespace ingot::os {

class MemoryAccount {
 public:
  virtual Result<void> allow(const RegionFields&) { return {}; }
  // A page of a region, which may have to be a new one.
  virtual Result<void> allow_touch(const Region&, Access) { return {}; }
  // Once it is there, and when it is gone.
  virtual void add(const RegionFields&) {}
  virtual void remove(const RegionFields&) {}
  virtual void show(const Region&, const MappedPage&) {}
  virtual void hide(const Region&, const MappedPage&) {}

 protected:
  friend class AddressSpace;
  ~MemoryAccount() = default;
};

}  // namespace ingot::os
