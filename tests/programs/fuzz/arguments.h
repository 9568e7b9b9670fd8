// For the fuzzer of system calls: arguments that are random, and nearly right.
#pragma once

#include <cstring>
#include <iterator>
#include <string_view>

#include "tests/programs/fuzz/registers.h"

namespace fuzz {

class Random {
 public:
  explicit Random(Word seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  Word next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  Word below(Word end) { return (next() >> 11) % end; }
  bool one_in(Word count) { return below(count) == 0; }

 private:
  Word state_;
};

// Memory that calls may write to, with nothing behind it; and addresses that mappings may change.
inline constexpr Word data_bytes = 64 << 10, guard_bytes = 64 << 20, area_bytes = 16 << 20, page_bytes = 4096;
inline char* data = nullptr;
inline char* area = nullptr;
inline char* read_only = nullptr;

inline constexpr std::string_view paths[] = {"/tmp/a",
                                             "/tmp/b",
                                             "/tmp/d/e",
                                             "/tmp",
                                             "/",
                                             "..",
                                             "/dev/null",
                                             "/dev/zero",
                                             "/dev/full",
                                             "/proc/self/maps",
                                             "/proc/self/fd",
                                             "/proc/meminfo",
                                             "/proc/self/exe",
                                             "/bin/fuzz_system_calls",
                                             "/sys",
                                             "/etc/passwd",
                                             "/tmp/../tmp/c/.",
                                             "/proc/self/cwd",
                                             "//",
                                             "/dev/random",
                                             "/tmp/link"};

inline Word some_address(Random& random) {
  switch (random.below(12)) {
    case 0: return 0;
    case 1: return random.below(page_bytes);
    case 2: return 0xffff'8000'0000'0000u + random.below(1ul << 40);  // the kernel's
    case 3: return 0xffff'ffff'ffff'ffffu - random.below(64);
    case 4: return 0x8000'0000'0000u + random.below(1ul << 50);  // nobody's
    case 5: return 0x7fff'ffff'f000u - random.below(16);
    case 6: return reinterpret_cast<Word>(read_only) + random.below(page_bytes);
    case 7: return reinterpret_cast<Word>(data) + data_bytes - random.below(64);  // across the end
    default: return reinterpret_cast<Word>(data) + random.below(data_bytes / 8) * (random.one_in(4) ? 1 : 8);
  }
}

inline Word some_size(Random& random) {
  constexpr Word sizes[] = {0,   1,    7,    8,    12,    16,      24,        100,      128,
                            144, 4095, 4096, 8192, 65536, 1 << 20, 1ul << 31, 1ul << 47};
  return random.one_in(16) ? -random.below(4096) - 1 : sizes[random.below(std::size(sizes))];
}

// 0 to 2 are ours.
inline Word some_descriptor(Random& random) {
  if (random.one_in(12)) return random.one_in(2) ? -100ul : random.next() | 64;
  return 3 + random.below(40);
}

// Where epolls were at first: two numbers at random would hardly ever name two of them.
inline Word epolls[3] = {};
inline Word some_epoll(Random& random) { return epolls[random.below(std::size(epolls))]; }

inline Word some_number(Random& random) {
  switch (random.below(7)) {
    case 0: return random.below(8);
    case 1: return random.below(256);
    case 2: return -random.below(16);
    case 3: return 1ul << random.below(64);
    case 4: return random.next() & random.next();
    case 5: return random.next();
    default: return some_size(random);
  }
}

inline Word some_word(Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: return some_address(random);
    case 3: return some_descriptor(random);
    case 4: return some_size(random);
    default: return some_number(random);
  }
}

// What calls read: words as above, and paths.
inline void fill_data(Random& random) {
  for (int count = 0; count < 8; ++count) {
    Word* word = reinterpret_cast<Word*>(data) + random.below(data_bytes / 8);
    *word = some_word(random);
    const std::string_view path = paths[random.below(std::size(paths))];
    char* place = data + random.below(data_bytes / 64 - 1) * 64;
    std::memcpy(place, path.data(), path.size());
    place[path.size()] = random.one_in(16) ? '/' : '\0';
  }
}

// The address of a socket within the program, and how many bytes it has: a path, an abstract name, or hardly one.
inline Word some_socket_address(Random& random, Word& bytes) {
  constexpr std::string_view names[] = {{"\0a", 2}, {"\0b", 2}, "/tmp/s", "/tmp/t", "/tmp/a", ""};
  const std::string_view name = names[random.below(std::size(names))];
  char* const place = data + random.below(data_bytes / 64 - 1) * 64;
  const unsigned short family = random.one_in(8) ? static_cast<unsigned short>(random.below(20)) : 1;
  std::memcpy(place, &family, sizeof family);
  std::memcpy(place + sizeof family, name.data(), name.size());
  bytes = random.one_in(8) ? some_size(random) : sizeof family + name.size();
  return reinterpret_cast<Word>(place);
}

// What a thread mapped last: else nothing would ever be protected, advised or unmapped as it was mapped.
struct Part {
  Word begin = 0, bytes = 0;
};
inline thread_local Part last_mapped;

inline Word some_part_of_area(Random& random, Word& bytes) {
  if (last_mapped.bytes != 0 && random.one_in(2)) {
    const Word offset = random.below(last_mapped.bytes / page_bytes) * page_bytes;
    bytes = random.one_in(2) ? last_mapped.bytes - offset : page_bytes;
    return last_mapped.begin + offset;
  }
  const Word offset = random.below(area_bytes / page_bytes) * page_bytes;
  bytes =
      random.one_in(8) ? -random.below(1 << 20) : (1 + random.below((area_bytes - offset) / page_bytes)) * page_bytes;
  if (random.one_in(8)) bytes -= 1;
  return reinterpret_cast<Word>(area) + offset + (random.one_in(16) ? 1 : 0);
}

}  // namespace fuzz
