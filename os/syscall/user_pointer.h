// A program's pointers as its calls hand them over: addresses to copy from and to, never to follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "os/memory/user_memory.h"
#include "os/syscall/errno.h"

namespace ingot::os {

template <class Object>
struct UserPointer {
  VirtualAddress address;

  bool is_null() const { return address == VirtualAddress(0); }
  UserPointer at(std::uint64_t index) const { return {address + index * sizeof(Object)}; }

  Answer<Object> read() const {
    static_assert(std::is_trivially_copyable_v<Object>);
    Object object;
    if (!copy_from_user(&object, address, sizeof object).ok()) return Errno::efault;
    return object;
  }
  Answer<void> write(const Object& object) const {
    static_assert(std::is_trivially_copyable_v<Object>);
    if (!copy_to_user(address, &object, sizeof object).ok()) return Errno::efault;
    return {};
  }
  // Nothing where the program did not ask for it.
  Answer<void> write_if_wanted(const Object& object) const {
    if (is_null()) return {};
    return write(object);
  }
};

// Bytes whose count another argument says.
template <>
struct UserPointer<void> {
  VirtualAddress address;

  bool is_null() const { return address == VirtualAddress(0); }
};

// Characters up to a zero: a path or a name.
struct UserText {
  VirtualAddress address;

  // How many characters it has, without the zero. One that does not fit with its zero answers ENAMETOOLONG.
  Answer<std::size_t> read(std::span<char> to) const;
};

}  // namespace ingot::os
