// A file that the manifest says to consume: what is unmapped or discarded becomes free memory, what another mapping
// shows stays, and what is gone is not read any more.
//
// program-test: cast --consume /bin/consume
// program-test: memory 32
// program-test: expect consume: all of it was given back once
// program-test: log exit 0
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <vector>

#include "tests/programs/report.h"

// Eight MiB in the program's file, in a section that no segment loads: each page is filled with its number.
asm(R"(
  .pushsection .weights, "", @progbits
  .balign 4096
  .set page, 0
  .rept 2048
  .fill 512, 8, page
  .set page, page + 1
  .endr
  .popsection
)");

namespace {

constexpr std::uint64_t page_bytes = 4096, pages = 2048;
sigjmp_buf place;

// Where the section lies in the file.
std::uint64_t find_weights(int file) {
  Elf64_Ehdr header;
  CHECK(pread(file, &header, sizeof header, 0) == sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  const auto bytes = static_cast<ssize_t>(sections.size() * sizeof(Elf64_Shdr));
  CHECK(pread(file, sections.data(), sections.size() * sizeof(Elf64_Shdr), static_cast<off_t>(header.e_shoff)) ==
        bytes);
  std::vector<char> names(sections[header.e_shstrndx].sh_size);
  CHECK(pread(file, names.data(), names.size(), static_cast<off_t>(sections[header.e_shstrndx].sh_offset)) > 0);
  for (const Elf64_Shdr& section : sections) {
    if (std::strcmp(names.data() + section.sh_name, ".weights") == 0) return section.sh_offset;
  }
  return 0;
}

// Errors of reading one page by a call.
int error_of_page(int file, std::uint64_t begin, std::uint64_t page) {
  std::uint64_t words[512];
  if (pread(file, words, sizeof words, static_cast<off_t>(begin + page * page_bytes)) < 0) return errno;
  CHECK(words[0] == page && words[511] == page);
  return 0;
}

}  // namespace

int main() {
  const int file = open("/proc/self/exe", O_RDONLY);
  CHECK(file >= 0);
  const std::uint64_t begin = find_weights(file);
  CHECK(begin != 0 && begin % page_bytes == 0);
  const std::uint64_t free_before = counter("frames-free");

  auto* all = static_cast<volatile std::uint64_t*>(
      mmap(nullptr, pages * page_bytes, PROT_READ, MAP_PRIVATE, file, static_cast<off_t>(begin)));
  CHECK(all != MAP_FAILED);
  auto* half = static_cast<volatile std::uint64_t*>(
      mmap(nullptr, pages / 2 * page_bytes, PROT_READ, MAP_SHARED, file, static_cast<off_t>(begin)));
  CHECK(half != MAP_FAILED);
  for (std::uint64_t page = 0; page < pages; ++page) CHECK(all[page * 512 + 7] == page);
  for (std::uint64_t page = 0; page < pages / 2; ++page) CHECK(half[page * 512 + 7] == page);
  CHECK(counter("in-place-2mib") >= 4 && counter("fall-backs-4kib") == 0);
  CHECK(counter("frames-given-back") == 0);

  CHECK(munmap(const_cast<std::uint64_t*>(all), pages * page_bytes) == 0);
  CHECK(counter("frames-given-back") == pages / 2);  // the other half is still shown
  CHECK(counter("frames-free") >= free_before + pages / 2 - 64);
  for (std::uint64_t page = 0; page < pages / 2; ++page) CHECK(half[page * 512 + 7] == page);
  CHECK(error_of_page(file, begin, pages / 2) == EIO && error_of_page(file, begin, pages / 2 - 1) == 0);

  CHECK(madvise(const_cast<std::uint64_t*>(half), 8 * page_bytes, MADV_DONTNEED) == 0);
  CHECK(counter("frames-given-back") == pages / 2 + 8);
  CHECK(error_of_page(file, begin, 7) == EIO && error_of_page(file, begin, 8) == 0);
  CHECK(half[8 * 512] == 8);
  std::signal(SIGBUS, [](int) { siglongjmp(place, 1); });
  if (sigsetjmp(place, 1) == 0) {
    static_cast<void>(half[0]);
    CHECK(!"a touch of what is gone to fail");
  }

  // What was given back is memory: more of it than the machine had before.
  const std::uint64_t more = (free_before + pages / 4) * page_bytes;
  auto* memory = static_cast<char*>(
      mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  CHECK(memory != MAP_FAILED);
  for (std::uint64_t offset = 0; offset < more; offset += page_bytes) memory[offset] = 1;
  for (std::uint64_t page = 8; page < pages / 2; ++page) CHECK(half[page * 512 + 7] == page);
  CHECK(munmap(memory, more) == 0);

  CHECK(munmap(const_cast<std::uint64_t*>(half), pages / 2 * page_bytes) == 0);
  CHECK(counter("frames-given-back") == pages);
  std::printf("consume: all of it was given back once\n");
}
