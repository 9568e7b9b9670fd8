// What a loader brings beside the image: a file that cannot have large pages, because it lies at no multiple of their
// size, is shown in place by small ones, and counted. engine_memory.py boots it with one; here there is none.
//
// program-test: expect initrd: none
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/programs/report.h"

int main() {
  const int file = open("/initrd", O_RDONLY);
  if (file < 0) {
    std::printf("initrd: none\n");
    return 0;
  }
  struct stat facts = {};
  CHECK(fstat(file, &facts) == 0);
  const auto bytes = static_cast<std::uint64_t>(facts.st_size);
  auto* words = static_cast<const volatile std::uint64_t*>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0));
  CHECK(words != MAP_FAILED);
  for (std::uint64_t index = 0; index < bytes / 8; ++index) CHECK(words[index] == index);
  std::printf("initrd: %lu bytes, %lu in place by small pages, %lu fell back, %lu large\n", bytes,
              counter("in-place-4kib"), counter("fall-backs-4kib"), counter("in-place-2mib"));
}
