// Transfers of many megabytes, on one CPU: others have their turn meanwhile, and a signal ends what has no end of its
// own. A file is read whole all the same, as on Linux.
// program-test: processors 1
// program-test: cast --tmpfs 100M
// program-test: memory 256
// program-test: expect all transfers behaved
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/programs/check.h"

namespace {

std::atomic<long> turns;
volatile sig_atomic_t alarms = 0;

void set_alarm(int milliseconds) {
  alarms = 0;
  const itimerval once{{0, 0}, {0, milliseconds * 1000}};
  CHECK(setitimer(ITIMER_REAL, &once, nullptr) == 0);
}

// As many bytes as wanted, all to one megabyte.
std::vector<iovec> pieces(char* megabyte, std::size_t count) { return std::vector<iovec>(count, {megabyte, 1 << 20}); }

// Another thread sees a file that is reserved in part. Where the call keeps the CPU to its end, nobody ever does.
void reserve_in_turns(off_t bytes) {
  const int file = memfd_create("room", 0);
  CHECK(file >= 0);
  std::atomic<bool> seen_in_part = false;
  std::thread watcher([&] {
    struct stat status;
    while (!seen_in_part) {
      CHECK(fstat(file, &status) == 0);
      seen_in_part = status.st_blocks > 0 && status.st_blocks < bytes / 512;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (int round = 0; !seen_in_part; ++round) {
    CHECK(round < 200);
    CHECK(ftruncate(file, 0) == 0 && fallocate(file, 0, 0, bytes) == 0);
  }
  watcher.join();
  close(file);
}

// A call that finds no room gives back what it took, in turns as well: another thread sees some of it gone, within one
// call.
void give_back_in_turns(off_t too_many) {
  const int file = memfd_create("no room", 0);
  CHECK(file >= 0);
  std::atomic<int> round = 0;
  std::atomic<bool> seen_in_part = false;
  std::thread watcher([&] {
    struct stat status;
    for (blkcnt_t before = 0; !seen_in_part; before = status.st_blocks) {
      const int call = round;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      CHECK(fstat(file, &status) == 0);
      seen_in_part = call == round && status.st_blocks > 0 && status.st_blocks < before;
      if (call != round) status.st_blocks = 0;
    }
  });
  for (; !seen_in_part; ++round) {
    CHECK(round < 200);
    CHECK(fallocate(file, 0, 0, too_many) == -1 && errno == ENOSPC);
    struct stat status;
    CHECK(fstat(file, &status) == 0 && status.st_blocks == 0);
  }
  watcher.join();
  close(file);
}

}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_handler = [](int) { alarms = alarms + 1; };
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  std::thread sleeper([] {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ++turns;
    }
  });
  sleeper.detach();
  constexpr std::size_t many = std::size_t{64} << 20;
  void* const room = mmap(nullptr, many, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(room != MAP_FAILED);
  const auto ends_early = [](ssize_t moved, std::size_t wanted) {
    CHECK(moved > 0 && static_cast<std::size_t>(moved) < wanted && alarms == 1);
  };
  // Without signals to the end, and the one who sleeps wakes in between.
  long before = turns;
  CHECK(getrandom(room, many / 4, 0) == static_cast<ssize_t>(many / 4) && turns > before);
  set_alarm(20);
  ends_early(getrandom(room, many, 0), many);
  const int random = open("/dev/urandom", O_RDONLY), zero = open("/dev/zero", O_RDONLY);
  set_alarm(20);
  ends_early(read(random, room, many), many);
  const std::vector<iovec> endless = pieces(static_cast<char*>(room), 1024);
  set_alarm(20);
  ends_early(readv(zero, endless.data(), 1024), std::size_t{1} << 30);
  // A file, nearly all of it holes.
  const int file = open("/tmp/holes", O_RDWR | O_CREAT, 0600);
  constexpr std::size_t long_file = std::size_t{256} << 20;
  CHECK(file >= 0 && ftruncate(file, long_file) == 0);
  before = turns;
  set_alarm(20);
  CHECK(readv(file, endless.data(), 256) == static_cast<ssize_t>(long_file) && alarms == 1 && turns > before);
  // Room for a file.
  reserve_in_turns(many);
  give_back_in_turns(long_file);
  CHECK(fallocate(file, FALLOC_FL_KEEP_SIZE, long_file, many) == 0);
  CHECK(lseek(file, 0, SEEK_END) == static_cast<off_t>(long_file));
  CHECK(fallocate(file, 0, long_file, many) == 0 && lseek(file, 0, SEEK_END) == static_cast<off_t>(long_file + many));
  CHECK(fallocate(file, 0, 0, long_file) == -1 && errno == ENOSPC);
  CHECK(syscall(SYS_getrandom, nullptr, 10, 0) == -1 && errno == EFAULT);
  CHECK(getrandom(room, 10, GRND_RANDOM | 4) == -1 && errno == EINVAL);
  std::puts("all transfers behaved");
  std::fflush(stdout);
  _exit(0);
}
