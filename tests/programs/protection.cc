// What a program may not do to itself: code is not written to, data is not executed, and what the loader finished stays
// as it is. Each forbidden touch faults, and the program goes on.
// program-test: expect constants, code and relocated tables are read-only
// program-test: expect stack, heap and data are not executed
// program-test: expect pages are writable or executable, never both
// program-test: expect code that was written runs once it is protected
#include <setjmp.h>
#include <sys/mman.h>

#include <array>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>

#include "tests/programs/check.h"

namespace {

sigjmp_buf before;

template <class Touch>
bool faults(Touch&& touch) {
  if (sigsetjmp(before, 1) != 0) return true;
  touch();
  return false;
}

using Code = std::array<unsigned char, 16>;
constexpr Code answer_42 = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret

int call(const void* code) { return reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(code))(); }
void overwrite(const void* place) { *static_cast<volatile unsigned char*>(const_cast<void*>(place)) = 0; }

[[gnu::used]] int one() { return 1; }
[[gnu::used]] int two() { return 2; }
// Addresses that a position-independent program fills in at its start: read-only from then on (RELRO).
int (*const table[])() = {one, two};
Code in_data = answer_42;

void read_only() {
  static const char constant[] = "constant";
  CHECK(faults([] { overwrite(constant); }));
  CHECK(faults([] { overwrite(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&one))); }));
  CHECK(faults([] { overwrite(table); }));
  int (*const* where)() = table;
  asm volatile("" : "+r"(where));  // what is there, not what the compiler knows
  CHECK(where[0]() == 1 && where[1]() == 2);
  std::puts("constants, code and relocated tables are read-only");
}

void not_executed() {
  Code on_stack = answer_42;
  const auto on_heap = std::make_unique<Code>(answer_42);
  asm volatile("" ::"r"(&on_stack) : "memory");
  CHECK(faults([&] { call(&on_stack); }));
  CHECK(faults([&] { call(on_heap.get()); }));
  CHECK(faults([] { call(&in_data); }));
  std::puts("stack, heap and data are not executed");
}

void never_both() {
  constexpr int both = PROT_READ | PROT_WRITE | PROT_EXEC, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  CHECK(mmap(nullptr, 4096, both, anonymous, -1, 0) == MAP_FAILED && errno == EACCES);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, anonymous, -1, 0);
  CHECK(page != MAP_FAILED);
  CHECK(mprotect(page, 4096, both) == -1 && errno == EACCES);
  CHECK(mmap(nullptr, 4096, PROT_READ, anonymous | MAP_FIXED, -1, 0) == MAP_FAILED);  // a null pointer points nowhere
  std::ifstream mappings("/proc/self/maps");
  int count = 0, stacks = 0;
  for (std::string line; std::getline(mappings, line); ++count) {
    const std::string rights = line.substr(line.find(' ') + 1, 3);
    CHECK(rights != "rwx" && rights != "-wx");
    if (line.find("[stack]") == std::string::npos) continue;
    CHECK(rights == "rw-");
    ++stacks;
  }
  CHECK(count > 5 && stacks == 1);
  std::puts("pages are writable or executable, never both");

  std::memcpy(page, answer_42.data(), answer_42.size());
  CHECK(faults([&] { call(page); }));
  CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  CHECK(call(page) == 42);
  CHECK(faults([&] { overwrite(page); }));
  std::puts("code that was written runs once it is protected");
}

// Program, mappings and stack, each at a page of its own TiB: all three at multiples of 2 MiB would be a wonder.
void drawn_places() {
  std::ifstream mappings("/proc/self/maps");
  std::uintptr_t program = 0, kernel_object = 0, stack_end = 0;
  for (std::string line; std::getline(mappings, line);) {
    const std::uintptr_t begin = std::stoull(line, nullptr, 16);
    if (program == 0) program = begin;
    if (line.find("[vvar]") != std::string::npos) kernel_object = begin;
    if (line.find("[stack]") != std::string::npos)
      stack_end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
  }
  if (program >> 40 == 0) return;  // at the addresses of its file
  CHECK(program >> 40 == 0x55 && kernel_object >> 40 == 0x7a && (stack_end >> 40 == 0x7e || stack_end >> 40 == 0x7f));
  constexpr std::uintptr_t within_large_page = (2 << 20) - 1;
  CHECK(((program | kernel_object | stack_end) & within_large_page) != 0);
}

}  // namespace

int main() {
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(before, 1); };
  CHECK(sigaction(SIGSEGV, &action, nullptr) == 0);
  read_only();
  not_executed();
  never_both();
  drawn_places();
}
