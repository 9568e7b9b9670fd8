// What a page table says about one page.
#pragma once

#include "os/memory/address.h"
#include "os/memory/page_attributes.h"

namespace ingot::os {

struct MappedPage {
  VirtualAddress address;
  PhysicalAddress physical;
  PageSize size = PageSize::small;
  PageAttributes attributes;
  bool accessed = false;
  bool dirty = false;
};

struct EveryPage {
  constexpr bool operator()(const MappedPage&) const { return true; }
};

}  // namespace ingot::os
