// A program of a few instructions in ring 3: it asks for calls, gets answers, faults, and ends with a status.
// boot-test: success
// boot-test: processors 2
// boot-test: expect system call: swapon (167) is not answered: ENOSYS
// boot-test: expect exit status 42
// boot-test: expect general protection fault
// boot-test: expect exit status 139
// boot-test: expect invalid opcode
// boot-test: expect exit status 132
// boot-test: expect ended while a thread waited: exit status 7
// boot-test: expect shared a CPU with one that spins: exit status 43
#include <array>

#include "tests/boot/tiny_program.h"

namespace ingot::os {

namespace {

// swapon, which nobody answers; then exit_group(getpid() + 41).
constexpr std::array<std::uint8_t, 31> ends_with_42 = {
    0xb8, 167,  0,    0,    0,                 // mov $167, %eax
    0x0f, 0x05,                                // syscall
    0xb8, 39,   0,    0,    0,                 // mov $39, %eax
    0x0f, 0x05,                                // syscall
    0x8d, 0x78, 41,                            // lea 41(%rax), %edi
    0xb8, 231,  0,    0,    0,    0x0f, 0x05,  // mov $231, %eax; syscall
    0x0f, 0x0b, 0x0f, 0x0b, 0x0f, 0x0b, 0x0f,  // never
};
constexpr std::array<std::uint8_t, 3> uses_a_kernel_instruction = {0xfa, 0x0f, 0x0b};  // cli

// A thread waits for a futex, for good; the other ends the program.
constexpr std::array<std::uint8_t, 75> ends_while_a_thread_waits = {
    0xb8, 56,   0,    0,    0,                       // mov $56, %eax: clone
    0xbf, 0x00, 0x0f, 0x01, 0x00,                    // mov $0x10f00, %edi: a thread
    0x48, 0x8d, 0xb4, 0x24, 0x00, 0xf8, 0xff, 0xff,  // lea -2048(%rsp), %rsi
    0x31, 0xd2, 0x0f, 0x05,                          // xor %edx, %edx; syscall
    0x85, 0xc0, 0x74, 28,                            // test %eax, %eax; jz to the new thread
    0xbb, 100,  0,    0,    0,                       // mov $100, %ebx
    0xb8, 24,   0,    0,    0,    0x0f, 0x05,        // mov $24, %eax; syscall: sched_yield
    0xff, 0xcb, 0x75, 0xf5,                          // dec %ebx; jnz back
    0xbf, 7,    0,    0,    0,                       // mov $7, %edi
    0xb8, 231,  0,    0,    0,    0x0f, 0x05,        // mov $231, %eax; syscall: exit_group
    0x6a, 0x00,                                      // push $0: the word
    0xb8, 202,  0,    0,    0,                       // mov $202, %eax: futex
    0x48, 0x89, 0xe7, 0x31, 0xf6,                    // mov %rsp, %rdi; xor %esi, %esi: wait
    0x31, 0xd2, 0x45, 0x31, 0xd2, 0x0f, 0x05,        // while it is 0, without a deadline
    0x0f, 0x0b,                                      // never
};

// One thread spins until the other, which begins on the same CPU, has written a word behind the code.
constexpr std::array<std::uint8_t, 71> waits_without_a_call = {
    0xb8, 56,   0,    0,    0,                                               // mov $56, %eax: clone
    0xbf, 0x00, 0x0f, 0x01, 0x00,                                            // mov $0x10f00, %edi: a thread
    0xbe, 0x00, 0x18, 0x40, 0x00,                                            // mov $0x401800, %esi: its stack
    0x31, 0xd2, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xc0, 0x0f, 0x05,              // no numbers, no storage; syscall
    0x85, 0xc0, 0x74, 0x18,                                                  // test %eax, %eax; jz to the new thread
    0xf3, 0x90,                                                              // pause
    0x83, 0x3c, 0x25, 0x00, 0x10, 0x40, 0x00, 0x00,                          // cmpl $0, 0x401000
    0x74, 0xf4,                                                              // jz back
    0xb8, 231,  0,    0,    0,    0xbf, 43,   0,    0,    0,    0x0f, 0x05,  // exit_group(43)
    0xc7, 0x04, 0x25, 0x00, 0x10, 0x40, 0x00, 0x01, 0x00, 0x00, 0x00,        // movl $1, 0x401000
    0xb8, 60,   0,    0,    0,    0x0f, 0x05,                                // exit(...)
};

int run(Kernel& kernel, std::span<const std::uint8_t> code) { return TinyProgram(kernel, code).run(); }

}  // namespace

void run_payload(Kernel& kernel) {
  require(kernel.system_calls.fill());
  kernel.log.information("exit status ", run(kernel, ends_with_42));
  kernel.log.information("exit status ", run(kernel, uses_a_kernel_instruction));
  kernel.log.information("exit status ", run(kernel, std::span(uses_a_kernel_instruction).last(2)));  // ud2
  kernel.log.information("ended while a thread waited: exit status ", run(kernel, ends_while_a_thread_waits));
  kernel.log.information("shared a CPU with one that spins: exit status ", run(kernel, waits_without_a_call));
}

}  // namespace ingot::os
