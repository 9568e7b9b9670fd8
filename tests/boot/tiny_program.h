// A program of a few instructions in ring 3, for boot tests: its code, then a page of stack.
#pragma once

#include <span>

#include "os/boot/kernel.h"
#include "os/process/process.h"
#include "os/trace/panic.h"

namespace ingot::os {

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic("program: ", result.error());
  return std::move(result).value();
}

inline constexpr VirtualAddress program_address{0x400000};
inline constexpr UserAddress program_entry = *UserAddress::of(program_address.value());

// A process with one thread, which is not started yet.
struct TinyProgram {
  Owned<Process> process;
  UserThread* thread = nullptr;

  TinyProgram(Kernel& kernel, std::span<const std::uint8_t> code)
      : process(require(Process::create(kernel, kernel.boot_info.memory.bytes_of(MemoryKind::usable)))) {
    AddressSpace& space = process->space();
    constexpr std::uint64_t bytes = 2 * page_bytes;
    require(space.add({.object = &process->memory().zeroes(),
                       .bytes = bytes,
                       .access = Access::read | Access::write,
                       .address = program_address}));
    use_address_space(&space);
    require(copy_to_user(program_address, code.data(), code.size()));
    use_address_space(nullptr);
    require(space.protect(program_address, page_bytes, Access::read | Access::execute));
    thread = require(process->add_thread(arch::first_frame(program_entry, program_address + bytes), {}));
  }
  // Its exit status.
  int run() {
    process->start(*thread);
    return process->run();
  }
};

}  // namespace ingot::os
