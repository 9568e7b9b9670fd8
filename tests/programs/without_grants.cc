// What nobody granted: no page is writable and executable, by whatever way, and a device is not there.
// program-test: expect without grants: refused
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

#include "tests/programs/report.h"

int main() {
  const int every = PROT_READ | PROT_WRITE | PROT_EXEC;
  CHECK(mmap(nullptr, 4096, every, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EACCES);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  CHECK(mprotect(page, 4096, every) != 0 && errno == EACCES);
  CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  CHECK(open("/dev/kmsg", O_WRONLY) < 0 && errno == ENOENT);
  CHECK(open("/dev/accelerator", O_RDWR) < 0 && errno == ENOENT);
  DIR* devices = opendir("/dev");
  CHECK(devices != nullptr);
  int count = 0;
  while (const dirent* entry = readdir(devices)) count += entry->d_type == DT_CHR ? 1 : 0;
  CHECK(count == 7);  // null zero full random urandom console tty
  std::printf("without grants: refused\n");
}
