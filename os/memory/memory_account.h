// MemoryAccount: who is told what an address space comes to, and may refuse it; this one lets everything pass. The
// space's lock is held.
#pragma once

#include "os/memory/region.h"

namespace ingot::os {

class MemoryAccount {
 public:
  // Before it is there.
  virtual Result<void> add(const RegionFields&) { return {}; }
  virtual Result<void> show(const Region&, const MappedPage&) { return {}; }
  // When it is gone.
  virtual void remove(const RegionFields&) {}
  virtual void hide(const Region&, const MappedPage&) {}

 protected:
  friend class AddressSpace;
  ~MemoryAccount() = default;
};

}  // namespace ingot::os
