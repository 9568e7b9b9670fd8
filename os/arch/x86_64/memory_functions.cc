// The functions that a compiler calls on its own (GCC manual, Standards): copying, filling, comparing, searching.
//
// Copies and fills are string instructions in assembly: a loop the compiler would recognise, and call itself again.
#include <cstddef>
#include <cstdint>

extern "C" {

void* memcpy(void* __restrict destination, const void* __restrict source, std::size_t bytes) {
  void* to = destination;
  std::size_t words = bytes / 8, rest = bytes % 8;
  asm volatile("rep movsq; movq %3, %%rcx; rep movsb" : "+&D"(to), "+&S"(source), "+&c"(words) : "r"(rest) : "memory");
  return destination;
}

void* memmove(void* destination, const void* source, std::size_t bytes) {
  const auto to = reinterpret_cast<std::uintptr_t>(destination), from = reinterpret_cast<std::uintptr_t>(source);
  if (to - from >= bytes)
    return memcpy(destination, source, bytes);  // also where `to` lies below: the difference wraps
  void* last_to = static_cast<char*>(destination) + bytes - 1;
  const void* last_from = static_cast<const char*>(source) + bytes - 1;
  asm volatile("std; rep movsb; cld" : "+D"(last_to), "+S"(last_from), "+c"(bytes) : : "memory");
  return destination;
}

void* memset(void* destination, int value, std::size_t bytes) {
  void* to = destination;
  std::size_t words = bytes / 8, rest = bytes % 8;
  const std::uint64_t pattern = 0x0101010101010101u * static_cast<unsigned char>(value);
  asm volatile("rep stosq; movq %3, %%rcx; rep stosb" : "+&D"(to), "+&c"(words) : "a"(pattern), "r"(rest) : "memory");
  return destination;
}

int memcmp(const void* left, const void* right, std::size_t bytes) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  std::size_t index = 0;
  for (std::uint64_t word = 0, other = 0; bytes - index >= 8; index += 8) {
    __builtin_memcpy(&word, a + index, 8);
    __builtin_memcpy(&other, b + index, 8);
    if (word != other) break;
  }
  for (; index < bytes; ++index) {
    if (a[index] != b[index]) return a[index] < b[index] ? -1 : 1;
  }
  return 0;
}

void* memchr(const void* memory, int value, std::size_t bytes) {
  const auto* letters = static_cast<const unsigned char*>(memory);
  for (std::size_t index = 0; index < bytes; ++index) {
    if (letters[index] == static_cast<unsigned char>(value)) return const_cast<unsigned char*>(letters + index);
  }
  return nullptr;
}

std::size_t strlen(const char* text) {
  std::size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

// In the virtual tables of interfaces; called only through an object that is not yet, or no longer, whole.
[[noreturn]] void __cxa_pure_virtual() { __builtin_trap(); }

}  // extern "C"

// What <string_view> calls where a position lies behind the end: a bug of the caller, and nothing here throws.
namespace std {
[[noreturn]] void __throw_out_of_range_fmt(const char*, ...) { __builtin_trap(); }
}  // namespace std
