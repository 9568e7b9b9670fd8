// What a program may name for the CPU's own registers: addresses of its half, parts of the vector state that it was
// granted. The kernel hands the first to WRMSR, SYSRET and IRETQ, which fault in ring 0 where a number is no address.
// program-test: processors 2
// program-test: expect bases of segments are addresses of the program
// program-test: expect a handler that is no address is a fault of the program
// program-test: expect the other bits of MXCSR outlive a handler
// program-test: expect parts of the vector state are told, and given to who asks
// program-test: never panic
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

#include "tests/programs/check.h"

namespace {

constexpr std::uint64_t not_addresses[] = {0x7fff'ffff'f000,      0x8000'0000'0000,      0x8000'0000'0000'0000,
                                           0xffff'7fff'ffff'ffff, 0xffff'8000'0000'0000, ~0ull};

void bases() {
  constexpr int set_gs = 0x1001, set_fs = 0x1002, get_gs = 0x1004;
  constexpr unsigned long thread = 0x10f00, with_storage = 0x80000;
  alignas(16) static char stack[4096];
  for (const std::uint64_t number : not_addresses) {
    CHECK(syscall(SYS_arch_prctl, set_fs, number) == -1 && errno == EPERM);
    CHECK(syscall(SYS_arch_prctl, set_gs, number) == -1 && errno == EPERM);
    errno = 0;
    // A thread that began in spite of it would return from here on a stack that holds nothing.
    const long answer = syscall(SYS_clone, thread | with_storage, stack + 2048, nullptr, nullptr, number);
    CHECK(answer == -1 && errno == EPERM);
  }
  std::uint64_t found = 1;
  CHECK(syscall(SYS_arch_prctl, set_gs, 0x7fff'ffff'efff) == 0);
  CHECK(syscall(SYS_arch_prctl, get_gs, &found) == 0 && found == 0x7fff'ffff'efff);
  std::puts("bases of segments are addresses of the program");
}

void handlers() {
  static volatile int faults = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { faults = faults + 1; };
  CHECK(sigaction(SIGSEGV, &action, nullptr) == 0);
  for (const std::uint64_t number : not_addresses) {
    action.sa_handler = reinterpret_cast<void (*)(int)>(number);
    CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
    const int before = faults;
    CHECK(raise(SIGUSR1) == 0 && faults == before + 1);
  }
  std::puts("a handler that is no address is a fault of the program");
}

void control_word() {
  struct sigaction action{};
  action.sa_handler = [](int) {};
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  const unsigned usual = 0x1f80, denormals_are_zero = 1u << 6, set = usual | denormals_are_zero;
  unsigned found = 0;
  asm volatile("ldmxcsr %0" : : "m"(set));
  CHECK(raise(SIGUSR1) == 0);
  asm volatile("stmxcsr %0; ldmxcsr %1" : "=m"(found) : "m"(usual));
  CHECK(found == set);
  std::puts("the other bits of MXCSR outlive a handler");
}

void vector_parts() {
  constexpr int get_supported = 0x1021, get_permitted = 0x1022, ask = 0x1023;
  constexpr std::uint64_t tile_data = 18, x87_and_sse = 3;
  std::uint64_t supported = 0, permitted = 0;
  CHECK(syscall(SYS_arch_prctl, get_supported, &supported) == 0 && (supported & x87_and_sse) == x87_and_sse);
  CHECK(syscall(SYS_arch_prctl, get_permitted, &permitted) == 0 && (permitted & x87_and_sse) == x87_and_sse);
  CHECK((permitted & ~supported) == 0 && (permitted >> tile_data & 1) == 0);
  CHECK(syscall(SYS_arch_prctl, get_supported, 16) == -1 && errno == EFAULT);
  CHECK(syscall(SYS_arch_prctl, ask, 64) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_arch_prctl, ask, tile_data + 1) == -1 && errno == EINVAL);
  CHECK(syscall(SYS_arch_prctl, ask, 1) == -1 && errno == EOPNOTSUPP);  // nobody has to ask for SSE
  const bool has_tiles = (supported >> tile_data & 1) != 0;
  const long answer = syscall(SYS_arch_prctl, ask, tile_data);
  CHECK(has_tiles ? answer == 0 : answer == -1 && errno == EOPNOTSUPP);
  // Room for a handler that does nothing: what the C library adds to its own constants.
  constexpr unsigned long at_least_signal_stack = 51, frame_without_vectors = 440;
  CHECK(getauxval(at_least_signal_stack) > frame_without_vectors + 512);
  std::puts("parts of the vector state are told, and given to who asks");
}

}  // namespace

int main() {
  bases();
  handlers();
  control_word();
  vector_parts();
}
