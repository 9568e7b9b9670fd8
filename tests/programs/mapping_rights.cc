// What mappings of files may never become. A file opened for reading is not written to by way of mprotect; a page that
// is executable anywhere is not written to anywhere else; offsets do not wrap.
// program-test: cast --tmpfs 1M
// program-test: expect offsets do not wrap
// program-test: expect what was opened for reading stays as it is
// program-test: expect written, then executed, never both
// program-test: expect code in use is not changed by calls
// program-test: expect private copies are nobody else's
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tests/programs/check.h"

namespace {

constexpr std::size_t page = 4096;
constexpr int read_only = PROT_READ, writes = PROT_READ | PROT_WRITE, executes = PROT_READ | PROT_EXEC;

void* map(int file, int rights, int sharing = MAP_SHARED, std::size_t bytes = page) {
  return mmap(nullptr, bytes, rights, sharing, file, 0);
}
bool is_refused(const void* mapped, int error = EACCES) { return mapped == MAP_FAILED && errno == error; }
bool is_refused(long answer, int error) { return answer == -1 && errno == error; }
void unmap(void* mapped) { CHECK(munmap(mapped, page) == 0); }

int file_of(std::size_t bytes) {
  const int file = memfd_create("code", 0);
  CHECK(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0);
  return file;
}

void do_not_wrap() {
  const off_t last_page = static_cast<off_t>(0xffff'ffff'ffff'f000u);
  const int image = open("/proc/self/exe", O_RDONLY), memory = file_of(2 * page);
  CHECK(image >= 0);
  for (const int file : {image, memory}) {
    CHECK(is_refused(mmap(nullptr, 2 * page, read_only, MAP_SHARED, file, last_page), EOVERFLOW));
    CHECK(is_refused(mmap(nullptr, page, read_only, MAP_PRIVATE, file, last_page), EOVERFLOW));
    CHECK(is_refused(mmap(nullptr, page, read_only, MAP_PRIVATE, file, static_cast<off_t>(1ull << 63)), EOVERFLOW));
    void* mapped = mmap(nullptr, page, read_only, MAP_PRIVATE, file, off_t{1} << 40);  // nothing there, yet
    CHECK(mapped != MAP_FAILED);
    unmap(mapped);
    CHECK(close(file) == 0);
  }
  std::puts("offsets do not wrap");
}

void stay_as_they_are() {
  CHECK(close(open("/tmp/constant", O_CREAT | O_RDWR, 0644)) == 0 && truncate("/tmp/constant", page) == 0);
  for (const char* path : {"/proc/self/exe", "/tmp/constant"}) {
    const int file = open(path, O_RDONLY);
    CHECK(file >= 0 && is_refused(map(file, writes)));
    for (const int rights : {read_only, executes, PROT_NONE}) {
      void* shared = map(file, rights);
      CHECK(shared != MAP_FAILED && is_refused(mprotect(shared, page, writes), EACCES));
      CHECK(is_refused(madvise(shared, page, MADV_REMOVE), EACCES));
      CHECK(mprotect(shared, page, PROT_NONE) == 0 && is_refused(mprotect(shared, page, PROT_WRITE), EACCES));
      CHECK(mprotect(shared, page, read_only) == 0);
      unmap(shared);
    }
    auto* copy = static_cast<char*>(map(file, read_only, MAP_PRIVATE));
    CHECK(copy != MAP_FAILED && mprotect(copy, page, writes) == 0);
    copy[0] = 'c';
    char byte = 0;
    CHECK(pread(file, &byte, 1, 0) == 1 && byte != 'c');
    unmap(copy);
    CHECK(close(file) == 0);
  }
  std::puts("what was opened for reading stays as it is");
}

// Each pair of a shared mapping that writes and one that executes, in either order and either way to come there.
void never_both() {
  CHECK(close(open("/dev/shm/code", O_CREAT | O_RDWR, 0755)) == 0);
  for (const char* path : {"", "/tmp/code", "/dev/shm/code"}) {
    const int file = path[0] == '\0' ? file_of(page) : open(path, O_CREAT | O_RDWR, 0755);
    CHECK(file >= 0 && ftruncate(file, 2 * page) == 0);
    for (const int sharing : {MAP_SHARED, MAP_PRIVATE}) {
      void* written = map(file, writes);
      CHECK(written != MAP_FAILED);
      CHECK(is_refused(map(file, executes, sharing)));  // also of another page of it
      CHECK(is_refused(mmap(nullptr, page, executes, sharing, file, page)));
      void* executed = map(file, read_only, sharing);
      CHECK(executed != MAP_FAILED && is_refused(mprotect(executed, page, executes), EACCES));
      std::memcpy(written, "\xb8\x2a\0\0\0\xc3", 6);  // mov eax, 42; ret
      CHECK(mprotect(written, page, read_only) == 0 && mprotect(executed, page, executes) == 0);
      CHECK(reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(executed))() == 42);
      CHECK(is_refused(mprotect(written, page, writes), EACCES) && is_refused(map(file, writes)));
      CHECK(is_refused(mremap(written, page, 0, MREMAP_MAYMOVE), EINVAL));
      unmap(written);
      CHECK(is_refused(map(file, writes)));
      unmap(executed);
      written = map(file, writes);  // executed nowhere any more
      CHECK(written != MAP_FAILED);
      unmap(written);
    }
    // What replaces the one that executes may write.
    void* place = map(file, executes);
    CHECK(place != MAP_FAILED && mmap(place, page, writes, MAP_SHARED | MAP_FIXED, file, 0) == place);
    CHECK(mmap(place, page, executes, MAP_SHARED | MAP_FIXED, file, 0) == place);
    unmap(place);
    CHECK(close(file) == 0);
  }
  std::puts("written, then executed, never both");
}

void not_changed_by_calls() {
  const int other = file_of(page);
  const int file = open("/tmp/in_use", O_CREAT | O_RDWR, 0755);
  CHECK(file >= 0 && ftruncate(file, 2 * page) == 0);
  char byte = 1;
  iovec piece{&byte, 1};
  const auto are_refused = [&] {
    CHECK(is_refused(write(file, &byte, 1), ETXTBSY) && is_refused(pwrite(file, &byte, 1, page), ETXTBSY));
    CHECK(is_refused(writev(file, &piece, 1), ETXTBSY) && is_refused(pwritev(file, &piece, 1, 0), ETXTBSY));
    CHECK(is_refused(ftruncate(file, 0), ETXTBSY) && is_refused(truncate("/tmp/in_use", page), ETXTBSY));
    CHECK(is_refused(open("/tmp/in_use", O_WRONLY | O_TRUNC), ETXTBSY));
    CHECK(is_refused(posix_fallocate(file, 0, 4 * page) == ETXTBSY ? -1 : 0, errno));
    off_t from = 0, to = 0;
    CHECK(is_refused(copy_file_range(other, &from, file, &to, 1, 0), ETXTBSY));
    CHECK(is_refused(sendfile(file, other, &from, 1), ETXTBSY));
  };
  for (const int sharing : {MAP_SHARED, MAP_PRIVATE}) {
    void* executed = map(file, executes, sharing);
    CHECK(executed != MAP_FAILED);
    are_refused();
    CHECK(mprotect(executed, page, read_only) == 0);
    CHECK(pwrite(file, &byte, 1, 0) == 1 && ftruncate(file, 2 * page) == 0);
    CHECK(mprotect(executed, page, executes) == 0);
    are_refused();
    unmap(executed);
    CHECK(pwrite(file, &byte, 1, 0) == 1);
  }
  std::puts("code in use is not changed by calls");
}

void are_nobody_elses() {
  const int file = file_of(page);
  void* executed = map(file, executes);
  auto* copy = static_cast<char*>(map(file, writes, MAP_PRIVATE));
  CHECK(executed != MAP_FAILED && copy != MAP_FAILED);
  copy[0] = 'c';
  CHECK(*static_cast<char*>(executed) == 0);
  CHECK(mprotect(copy, page, executes) == 0 && mprotect(copy, page, writes) == 0);
  unmap(executed);
  // A copy that executes counts as the file's: its other pages are.
  CHECK(mprotect(copy, page, executes) == 0 && is_refused(map(file, writes)));
  std::puts("private copies are nobody else's");
}

}  // namespace

int main() {
  do_not_wrap();
  stay_as_they_are();
  never_both();
  not_changed_by_calls();
  are_nobody_elses();
}
