// A program that is granted `pci` is cast with a kernel that has it, and reads what is on the bus of the
// machine that it is booted on for that: the bridge to the processor, at least. The other kernel has no byte of this.
// program-test: cast --grant pci
// program-test: expect pci: 00:00.0 0600: 8086:29c0
// program-test: log pci:
// program-test: log functions, by memory
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/programs/report.h"

int main() {
  const int bus = open("/dev/pci", O_RDONLY);
  CHECK(bus >= 0);
  struct stat status{};
  CHECK(fstat(bus, &status) == 0 && S_ISCHR(status.st_mode));
  char text[4096];
  const ssize_t bytes = read(bus, text, sizeof text - 1);
  CHECK(bytes > 0);
  text[bytes] = '\0';
  // What was read at the opening stays: a second look from the begin is the same.
  char again[sizeof text];
  CHECK(pread(bus, again, sizeof again, 0) == bytes && std::memcmp(text, again, static_cast<std::size_t>(bytes)) == 0);
  CHECK(open("/dev/pci", O_WRONLY) < 0 && errno == EACCES);
  CHECK(open("/dev/kmsg", O_WRONLY) < 0 && errno == ENOENT);       // not granted
  CHECK(open("/dev/accelerator", O_RDWR) < 0 && errno == ENOENT);  // which this kernel has
  std::printf("pci: %s", text);
}
