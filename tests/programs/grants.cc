// What a manifest grants: pages that are writable and executable, and a device.
// program-test: cast --grant writable-executable --grant kmsg
// program-test: expect grants: code that was written ran
// program-test: log program: a line of the program's
// program-test: log exit 0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/programs/report.h"

int main() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
  std::memcpy(page, code, sizeof code);
  CHECK(reinterpret_cast<int (*)()>(page)() == 42);
  static_cast<unsigned char*>(page)[1] = 43;
  CHECK(reinterpret_cast<int (*)()>(page)() == 43);
  std::printf("grants: code that was written ran\n");

  const int log = open("/dev/kmsg", O_WRONLY);
  CHECK(log >= 0);
  const char line[] = "a line of the program's\n";
  CHECK(write(log, line, sizeof line - 1) == sizeof line - 1);
  CHECK(open("/dev/kmsg", O_RDONLY) < 0 && errno == EACCES);
}
