// What a mapping allows, in words of no architecture.
#pragma once

#include <cstdint>

#include "os/memory/address.h"

namespace ingot::os {

enum class Access : std::uint8_t { none = 0, read = 1, write = 2, execute = 4 };  // write and execute imply read

constexpr Access operator|(Access left, Access right) {
  return static_cast<Access>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr Access operator&(Access left, Access right) {
  return static_cast<Access>(static_cast<unsigned>(left) & static_cast<unsigned>(right));
}
inline constexpr Access every_access = Access::read | Access::write | Access::execute;
constexpr Access without(Access access, Access removed) {
  return static_cast<Access>(static_cast<unsigned>(access) & ~static_cast<unsigned>(removed));
}
constexpr bool allows(Access granted, Access asked) { return (granted & asked) == asked; }

template <class Text>
constexpr void describe(Access access, Text& text) {
  if (access == Access::none) text.append("none");
  if (allows(access, Access::read) && access != Access::none) text.append("read");
  if (allows(access, Access::write)) text.append(allows(access, Access::read) ? "+write" : "write");
  if (allows(access, Access::execute)) text.append("+execute");
}

enum class Privilege : std::uint8_t { kernel, user };

enum class CacheMode : std::uint8_t {
  write_back,       // memory
  write_through,    // memory that a device reads without snooping
  write_combining,  // framebuffers: writes are gathered, reads are slow
  uncached,         // device registers
};

// Whether a mapping holds references to the frames behind it (and drops them with the page), or only shows memory that
// somebody else keeps: a device, the boot image.
enum class FrameOwnership : std::uint8_t { borrowed, counted };

struct PageAttributes {
  Access access = Access::read;
  Privilege privilege = Privilege::kernel;
  CacheMode cache = CacheMode::write_back;
  FrameOwnership ownership = FrameOwnership::borrowed;

  constexpr bool operator==(const PageAttributes&) const = default;
};

// The level of the table whose entry maps a page of this size.
enum class PageSize : std::uint8_t { small = 0, large = 1, giant = 2 };
constexpr std::uint64_t bytes_of(PageSize size) { return page_bytes << (9 * static_cast<unsigned>(size)); }
constexpr unsigned order_of(PageSize size) { return 9 * static_cast<unsigned>(size); }

// What a page table says about one page.
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
