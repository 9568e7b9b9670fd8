// A program's memory as the kernel reaches it: by copying, because any address may be wrong and any page still absent.
// Everywhere else the CPU refuses the kernel such accesses, where it can (SMAP).
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "os/memory/address.h"

namespace ingot::os {

class AddressSpace;

// The program's half ends a page before the first address that is none: no instruction and no copy runs over.
inline constexpr VirtualAddress user_memory_end{0x0000'7fff'ffff'f000};

// A number that a program, or its file, named for an instruction pointer or for the base of a segment, and that lies in
// its half. Only such a one reaches the CPU: IRETQ, SYSRET and WRMSR fault in ring 0 where a number is no address (SDM
// volume 2). Stack pointers are not among them: no instruction looks at one before it is used, and a program sets its
// own to anything it likes.
class UserAddress {
 public:
  constexpr UserAddress() = default;
  static constexpr std::optional<UserAddress> of(std::uint64_t value) {
    return value < user_memory_end.value() ? std::optional(UserAddress(value)) : std::nullopt;
  }
  constexpr std::uint64_t value() const { return value_; }
  constexpr bool operator==(const UserAddress&) const = default;

 private:
  constexpr explicit UserAddress(std::uint64_t value) : value_(value) {}
  std::uint64_t value_ = 0;
};

// The current thread sees this space from now on, wherever it runs; nullptr: none but the kernel.
void use_address_space(AddressSpace* space);
// On this CPU, for the scheduler.
void load_address_space(const AddressSpace* space);

// In the current thread's space; absent pages appear. On failure a part may have been copied. The thread may sleep.
Result<void> copy_from_user(void* to, VirtualAddress from, std::uint64_t bytes);
Result<void> copy_to_user(VirtualAddress to, const void* from, std::uint64_t bytes);

}  // namespace ingot::os
