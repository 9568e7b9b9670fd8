// What a program says about its memory is done, or refused as Linux refuses it: advice, locks, times of mapped files,
// and mappings that grow.
// program-test: memory 64
// program-test: cast --tmpfs 1M
// program-test: expect advice is done or refused
// program-test: expect neighbours become one mapping
// program-test: expect locks know their addresses
// program-test: expect /dev/zero is mapped
// program-test: expect mapped writes change a file's times
// program-test: expect mappings move without a copy
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>

#include "tests/programs/check.h"

namespace {

constexpr std::size_t page = 4096, mib = 1 << 20;
constexpr int writes = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;

char* map(std::size_t bytes, int rights = writes, int flags = anonymous, int file = -1) {
  void* mapped = mmap(nullptr, bytes, rights, flags, file, 0);
  CHECK(mapped != MAP_FAILED);
  return static_cast<char*>(mapped);
}
bool is_refused(long answer, int error) { return answer == -1 && errno == error; }

int file_of(std::size_t bytes) {
  const int file = memfd_create("file", 0);
  CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0);
  return file;
}

// How many lines /proc/self/maps has for a range.
int mappings_in(const char* begin, std::size_t bytes) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::uint64_t at = std::stoull(line, nullptr, 16),
                        end = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    if (at < first + bytes && end > first) ++count;
  }
  return count;
}

void advise() {
  char* memory = map(8 * page);
  CHECK(munmap(memory + 4 * page, page) == 0);  // a hole
  constexpr int populate_read = 22, populate_write = 23, wipe_on_fork = 18;
  for (const int hint : {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_HUGEPAGE, MADV_DONTDUMP}) {
    CHECK(madvise(memory, 4 * page, hint) == 0 && is_refused(madvise(memory, 8 * page, hint), ENOMEM));
  }
  memory[0] = memory[5 * page] = 1;
  CHECK(is_refused(madvise(memory, 8 * page, MADV_DONTNEED), ENOMEM));  // and what is there went
  CHECK(memory[0] == 0 && memory[5 * page] == 0);
  CHECK(is_refused(madvise(memory, page, MADV_REMOVE), EINVAL));
  CHECK(madvise(memory, 4 * page, populate_write) == 0 && madvise(memory, 4 * page, populate_read) == 0);
  CHECK(is_refused(madvise(memory, 8 * page, populate_read), ENOMEM));
  CHECK(mprotect(memory, page, PROT_READ) == 0 && is_refused(madvise(memory, page, populate_write), EINVAL));

  const int file = file_of(2 * page);
  char* shared = map(4 * page, writes, MAP_SHARED, file);
  CHECK(is_refused(madvise(shared, page, wipe_on_fork), EINVAL) &&
        is_refused(madvise(shared, page, MADV_FREE), EINVAL));
  CHECK(is_refused(madvise(shared, 4 * page, populate_read), EFAULT));  // beyond its end
  CHECK(is_refused(madvise(shared, page, 99), EINVAL) && is_refused(madvise(shared + 1, page, 0), EINVAL));
  CHECK(munmap(shared, 4 * page) == 0 && close(file) == 0 && munmap(memory, 8 * page) == 0);
  std::puts("advice is done or refused");
}

void join() {
  char* room = map(64 * page, PROT_NONE);
  for (std::size_t i = 0; i < 64; ++i) CHECK(mprotect(room + i * page, page, writes) == 0);
  CHECK(mappings_in(room, 64 * page) == 1);
  for (std::size_t i = 0; i < 64; i += 2) CHECK(mprotect(room + i * page, page, PROT_READ) == 0);
  CHECK(mappings_in(room, 64 * page) == 64);
  for (std::size_t i = 0; i < 64; ++i) room[1 * page] = 1;
  CHECK(mprotect(room, 64 * page, writes) == 0 && mappings_in(room, 64 * page) == 1 && room[page] == 1);
  const int file = file_of(8 * page);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(mmap(room + i * page, page, PROT_READ, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(i * page)) ==
          room + i * page);
  }
  CHECK(mappings_in(room, 8 * page) == 1);
  CHECK(munmap(room, 64 * page) == 0 && close(file) == 0);
  std::puts("neighbours become one mapping");
}

void lock() {
  char* memory = map(4 * page);
  CHECK(munmap(memory + 2 * page, page) == 0);
  CHECK(mlock(memory, 2 * page) == 0 && is_refused(mlock(memory, 4 * page), ENOMEM));
  CHECK(is_refused(munlock(memory + 2 * page, page), ENOMEM) && munlock(memory, page) == 0);
  CHECK(is_refused(mlock2(memory, page, 0x40), EINVAL) && mlock2(memory, page, MLOCK_ONFAULT) == 0);
  CHECK(is_refused(mlockall(0), EINVAL) && is_refused(mlockall(0x40), EINVAL) &&
        is_refused(mlockall(MCL_ONFAULT), EINVAL));
  CHECK(is_refused(msync(memory, page, MS_SYNC | MS_INVALIDATE), EBUSY));
  CHECK(is_refused(madvise(memory, page, MADV_DONTNEED), EINVAL));
  CHECK(munlock(memory, 2 * page) == 0 && msync(memory, page, MS_SYNC | MS_INVALIDATE) == 0);
  CHECK(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
  char* later = map(page);
  CHECK(is_refused(msync(memory, page, MS_INVALIDATE), EBUSY) && is_refused(msync(later, page, MS_INVALIDATE), EBUSY));
  CHECK(munlockall() == 0 && msync(memory, page, MS_INVALIDATE) == 0 && msync(later, page, MS_INVALIDATE) == 0);
  CHECK(munmap(memory, 4 * page) == 0 && munmap(later, page) == 0);
  std::puts("locks know their addresses");
}

void zeroes() {
  const int file = open("/dev/zero", O_RDWR);
  CHECK(file >= 0);
  for (const int sharing : {MAP_PRIVATE, MAP_SHARED}) {
    char* memory = map(3 * page, writes, sharing, file);
    for (std::size_t i = 0; i < 3 * page; ++i) CHECK(memory[i] == 0);
    memory[page] = 1;
    CHECK(munmap(memory, 3 * page) == 0);
  }
  CHECK(close(file) == 0);
  std::puts("/dev/zero is mapped");
}

struct Times {
  timespec accessed, modified, changed;
};
Times times_of(int file) {
  struct stat status;
  CHECK(fstat(file, &status) == 0);
  return {status.st_atim, status.st_mtim, status.st_ctim};
}
bool is_later(timespec one, timespec other) {
  return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec : one.tv_nsec > other.tv_nsec;
}
void pass_time() {
  const timespec moment{0, 2'000'000};
  CHECK(nanosleep(&moment, nullptr) == 0);
}

void write_mapped() {
  const int file = file_of(4 * page);
  const Times before = times_of(file);
  pass_time();
  char* memory = map(4 * page, writes, MAP_SHARED, file);
  CHECK(memory[0] == 0 && is_later(times_of(file).accessed, before.accessed));
  CHECK(msync(memory, 4 * page, MS_SYNC) == 0 && !is_later(times_of(file).modified, before.modified));  // only read
  memory[page] = 1;
  CHECK(msync(memory, 4 * page, MS_SYNC) == 0);
  const Times once = times_of(file);
  CHECK(is_later(once.modified, before.modified) && is_later(once.changed, before.changed));
  pass_time();
  CHECK(msync(memory, 4 * page, MS_ASYNC) == 0 && !is_later(times_of(file).modified, once.modified));  // not since
  memory[page] = 2;  // Linux notes only the first write to a page of a tmpfs
  CHECK(munmap(memory, 4 * page) == 0 && is_later(times_of(file).modified, once.modified));
  CHECK(close(file) == 0);
  std::puts("mapped writes change a file's times");
}

void move() {
  const std::size_t bytes = 24 * mib;
  char* memory = map(bytes);
  for (std::size_t i = 0; i < bytes; i += page) memory[i] = static_cast<char>(i / page % 127);
  char* const wall = static_cast<char*>(mmap(memory + bytes, page, PROT_READ, anonymous | MAP_FIXED, -1, 0));
  CHECK(wall == memory + bytes && mremap(memory, bytes, 2 * bytes, 0) == MAP_FAILED && errno == ENOMEM);
  auto* moved = static_cast<char*>(mremap(memory, bytes, bytes + 4 * mib, MREMAP_MAYMOVE));
  CHECK(moved != MAP_FAILED && moved != memory);
  for (std::size_t i = 0; i < bytes; i += page) CHECK(moved[i] == static_cast<char>(i / page % 127));
  CHECK(moved[bytes] == 0 && mappings_in(memory, bytes) == 0 && mappings_in(moved, bytes + 4 * mib) == 1);
  CHECK(munmap(moved, bytes + 4 * mib) == 0 && munmap(wall, page) == 0);

  const int file = file_of(8 * page);
  char* shared = map(2 * page, writes, MAP_SHARED, file);
  shared[page] = 7;
  moved = static_cast<char*>(mremap(shared, 2 * page, 8 * page, MREMAP_MAYMOVE));
  CHECK(moved != MAP_FAILED && moved[page] == 7);
  moved[7 * page] = 8;
  char byte = 0;
  CHECK(pread(file, &byte, 1, 7 * page) == 1 && byte == 8);
  CHECK(munmap(moved, 8 * page) == 0 && close(file) == 0);
  CHECK(mremap(moved, page, 2 * page, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);
  std::puts("mappings move without a copy");
}

}  // namespace

int main() {
  advise();
  join();
  lock();
  zeroes();
  write_mapped();
  move();
}
