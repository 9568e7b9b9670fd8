// GrantNote: one right that a kernel can grant, written into its file as an ELF note. What is not linked into a kernel
// leaves no note there, so `ingot cast` reads off the file alone what a kernel has, and takes the smallest that has
// what the manifest grants. One is written so, with its alignment said, for compilers align large objects to more and
// notes follow each other without padding:
//
//   alignas(GrantNote) [[gnu::used, gnu::section(".note.ingot")]] constinit const GrantNote announced("kmsg");
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot {

struct GrantNote {
  static constexpr std::string_view owner_name = "Ingot";
  static constexpr std::uint32_t grant_type = 0x100;  // none that ELF itself has a meaning for
  static constexpr std::size_t capacity = 32;         // of a right's name, with a zero behind it

  // A name that is too long does not compile.
  consteval explicit GrantNote(std::string_view right) {
    for (std::size_t index = 0; index < owner_name.size(); ++index) owner[index] = owner_name[index];
    grant[right.size()] = '\0';
    for (std::size_t index = 0; index < right.size(); ++index) grant[index] = right[index];
  }

  // As an ELF note begins: the lengths of both names, then what the second one is.
  std::uint32_t owner_bytes = owner_name.size() + 1, grant_bytes = capacity, type = grant_type;
  char owner[(owner_name.size() + 1 + 3) / 4 * 4] = {};
  char grant[capacity] = {};
};
static_assert(sizeof(GrantNote) % 4 == 0 && alignof(GrantNote) == 4);

}  // namespace ingot
