// A program's memory is limited: promises beyond the limit are refused when they are asked for, reservations cost
// nothing until they are touched, and a touch that cannot be answered ends the program with a report.
//
// program-test: cast --limit 24M
// program-test: memory 64
// program-test: exit 137
// program-test: expect limit: promises refused
// program-test: expect limit: reservations are free
// program-test: expect limit: touching
// program-test: never line
// program-test: log frames held:
// program-test: log program: out of memory
// program-test: log exit 137
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "tests/programs/report.h"

namespace {

constexpr std::size_t mib = 1 << 20;

void* map(std::size_t bytes, int protection, int flags = 0) {
  return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

}  // namespace

int main() {
  CHECK(counter("limit-bytes") == 24 * mib);
  const std::uint64_t before = counter("charged-bytes");
  CHECK(map(64 * mib, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == ENOMEM);
  void* ten = map(10 * mib, PROT_READ | PROT_WRITE);
  CHECK(ten != MAP_FAILED && counter("charged-bytes") == before + 10 * mib);
  CHECK(map(16 * mib, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == ENOMEM);
  CHECK(mprotect(ten, 10 * mib, PROT_READ) == 0 && counter("charged-bytes") == before + 10 * mib);
  CHECK(munmap(ten, 10 * mib) == 0 && counter("charged-bytes") == before);
  std::printf("limit: promises refused\n");

  auto* room = static_cast<char*>(map(mib << 20, PROT_NONE));
  CHECK(room != MAP_FAILED && counter("charged-bytes") == before);
  CHECK(map(mib << 20, PROT_READ | PROT_WRITE, MAP_NORESERVE) != MAP_FAILED && counter("charged-bytes") == before);
  CHECK(mprotect(room, 256 * mib, PROT_READ | PROT_WRITE) == 0);
  std::memset(room, 1, mib);
  CHECK(counter("charged-bytes") == before + mib);
  CHECK(madvise(room, mib, MADV_DONTNEED) == 0 && counter("charged-bytes") == before && room[5] == 0);
  CHECK(status("VmPeak") >= (2 << 20) && status("VmHWM") >= status("VmRSS"));
  std::printf("limit: reservations are free\n");

  std::printf("limit: touching\n");
  std::fflush(stdout);
  std::memset(room, 1, 256 * mib);
  std::printf("line %d: expected an end, found none\n", __LINE__);
}
