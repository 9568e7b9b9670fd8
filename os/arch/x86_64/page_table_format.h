// The page-table entries of x86_64 in long mode with 4 levels (Intel SDM volume 3, 4.5; PAT: 12.12).
#pragma once

#include <cstdint>

#include "os/memory/address.h"
#include "os/memory/page_attributes.h"

namespace ingot::os::x86_64 {

// What the PAT register must hold for the cache modes below: WB, WC, UC-, UC; WB, WP, UC-, WT.
inline constexpr std::uint64_t page_attribute_table = 0x0407'0506'0007'0106u;

struct PageTableFormat {
  using Entry = std::uint64_t;
  static constexpr unsigned levels = 4;
  static constexpr PageSize largest_page = PageSize::giant;

  static constexpr Entry present = 1u << 0;
  static constexpr Entry writable = 1u << 1;
  static constexpr Entry user = 1u << 2;
  static constexpr Entry write_through = 1u << 3;  // bit 0 of the PAT index
  static constexpr Entry cache_disable = 1u << 4;  // bit 1
  static constexpr Entry accessed = 1u << 5;
  static constexpr Entry dirty = 1u << 6;
  static constexpr Entry large = 1u << 7;  // above level 0; at level 0 this is bit 2 of the PAT index
  static constexpr Entry global = 1u << 8;
  static constexpr Entry held = 1u << 9;        // ours: a page without access, so that it is told from no page
  static constexpr Entry counted = 1u << 10;    // ours: FrameOwnership
  static constexpr Entry large_pat = 1u << 12;  // bit 2 of the PAT index in a large page
  static constexpr Entry no_execute = Entry{1} << 63;
  static constexpr Entry address_bits = 0x000f'ffff'ffff'f000u;

  // Bits 63 to 47 of an address must be equal.
  static constexpr bool canonical(VirtualAddress address) {
    const auto top = static_cast<std::int64_t>(address.value()) >> 47;
    return top == 0 || top == -1;
  }

  // Any page has some bit set, even one without access.
  static constexpr bool used(Entry entry) { return entry != 0; }
  static constexpr bool is_page(unsigned level, Entry entry) { return level == 0 || (entry & large) != 0; }

  // Tables allow everything; the pages decide.
  static constexpr Entry table(PhysicalAddress address) { return address.value() | present | writable | user; }
  static constexpr PhysicalAddress table_of(Entry entry) { return PhysicalAddress(entry & address_bits); }

  static constexpr Entry page(unsigned level, PhysicalAddress address, PageAttributes attributes) {
    Entry entry = address.value() | cache_bits(level, attributes.cache);
    if (level != 0) entry |= large;
    entry |= attributes.privilege == Privilege::user ? user : global;
    if (attributes.ownership == FrameOwnership::counted) entry |= counted;
    if (allows(attributes.access, Access::write)) entry |= writable;
    if (!allows(attributes.access, Access::execute)) entry |= no_execute;
    if (attributes.access != Access::none) return entry | present;
    // Some CPUs speculate with the address of an entry that is not present (L1 terminal fault): it is kept inverted.
    return (entry ^ address_mask(level)) | held;
  }
  static constexpr PhysicalAddress page_of(unsigned level, Entry entry) {
    return PhysicalAddress(((entry & present) != 0 ? entry : ~entry) & address_mask(level));
  }
  static constexpr PageAttributes attributes_of(unsigned level, Entry entry) {
    PageAttributes attributes{Access::none, (entry & user) != 0 ? Privilege::user : Privilege::kernel,
                              cache_of(level, entry),
                              (entry & counted) != 0 ? FrameOwnership::counted : FrameOwnership::borrowed};
    if ((entry & present) == 0) return attributes;
    attributes.access = Access::read;
    if ((entry & writable) != 0) attributes.access = attributes.access | Access::write;
    if ((entry & no_execute) == 0) attributes.access = attributes.access | Access::execute;
    return attributes;
  }

  // What the CPU noted about a page's use; it survives splitting, joining and protecting.
  static constexpr Entry history(Entry entry) { return entry & (accessed | dirty); }
  static constexpr bool is_accessed(Entry entry) { return (entry & accessed) != 0; }
  static constexpr bool is_dirty(Entry entry) { return (entry & dirty) != 0; }

 private:
  // The lowest bits of a large page's address are 0; one of them is the PAT bit.
  static constexpr Entry address_mask(unsigned level) { return address_bits & ~((page_bytes << (9 * level)) - 1); }
  static constexpr Entry cache_bits(unsigned level, CacheMode cache) {
    switch (cache) {
      case CacheMode::write_back: return 0;
      case CacheMode::write_combining: return write_through;
      case CacheMode::uncached: return write_through | cache_disable;
      case CacheMode::write_through: break;
    }
    return write_through | cache_disable | (level == 0 ? large : large_pat);
  }
  static constexpr CacheMode cache_of(unsigned level, Entry entry) {
    const Entry index = entry & (write_through | cache_disable | (level == 0 ? large : large_pat));
    if (index == cache_bits(level, CacheMode::write_combining)) return CacheMode::write_combining;
    if (index == cache_bits(level, CacheMode::uncached)) return CacheMode::uncached;
    if (index == cache_bits(level, CacheMode::write_through)) return CacheMode::write_through;
    return CacheMode::write_back;
  }
};

}  // namespace ingot::os::x86_64
