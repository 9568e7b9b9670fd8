// A program of a few instructions in ring 3, for boot tests: its code, then a page of stack.
#pragma once

#include <array>
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

// Never calls the kernel: notes the cycle counter on its stack, over and over. What it noted last is when it was
// interrupted, but for its three instructions.
inline constexpr std::array<std::uint8_t, 7> notes_the_time = {
    0x0f, 0x31,        // rdtsc
    0x89, 0x04, 0x24,  // mov %eax, (%rsp)
    0xeb, 0xf9,        // jmp to the first
};

// A process with one thread, which is not started yet.
struct TinyProgram {
  static constexpr VirtualAddress top_of_stack = program_address + (2 * page_bytes - 64);

  Owned<Process> process;
  UserThread* thread = nullptr;

  TinyProgram(Kernel& kernel, std::span<const std::uint8_t> code)
      : process(require(Process::create(kernel, kernel.boot_info.memory.bytes_of(MemoryKind::usable)))) {
    AddressSpace& space = process->space();
    require(space.add({.object = &process->memory().zeroes(),
                       .bytes = 2 * page_bytes,
                       .access = Access::read | Access::write,
                       .address = program_address}));
    use_address_space(&space);
    require(copy_to_user(program_address, code.data(), code.size()));
    use_address_space(nullptr);
    require(space.protect(program_address, page_bytes, Access::read | Access::execute));
    thread = require(process->add_thread(arch::first_frame(program_entry, top_of_stack), {}));
  }
  // What it wrote there, as the kernel sees it. Precondition: it did.
  volatile std::uint32_t& word_at(VirtualAddress address) {
    const PhysicalAddress physical = *process->space().table().translate(address);
    return *process->kernel().memory->window().at<volatile std::uint32_t>(physical);
  }
  // Its exit status.
  int run() {
    process->start(*thread);
    return process->run();
  }
};

}  // namespace ingot::os
