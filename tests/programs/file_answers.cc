// What calls about files answer where Linux's answer was once not ours.
// program-test: cast --tmpfs 4M
// program-test: expect files answer as Linux's
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "tests/programs/check.h"

namespace {

void appending() {
  const int file = open("/tmp/appended", O_RDWR | O_CREAT | O_APPEND, 0600);
  CHECK(file >= 0 && write(file, "one", 3) == 3 && pwrite(file, "two", 3, 0) == 3);
  char text[8];
  CHECK(pread(file, text, sizeof text, 0) == 6 && std::memcmp(text, "onetwo", 6) == 0);
  CHECK(lseek(file, 0, SEEK_CUR) == 3 && fsync(file) == 0);
  CHECK(close(file) == 0);
}

void synchronizing() {
  int ends[2];
  CHECK(pipe(ends) == 0);
  CHECK(fsync(ends[1]) == -1 && errno == EINVAL);
  CHECK(fdatasync(ends[0]) == -1 && errno == EINVAL);
  const int directory = open("/tmp", O_RDONLY | O_DIRECTORY);
  CHECK(directory >= 0 && fsync(directory) == 0);
  close(directory);
  close(ends[0]);
  close(ends[1]);
}

void names() {
  CHECK(chmod("/proc/self", 0555) == -1 && errno == EPERM);
  CHECK(chown("/proc/self", 0, 0) == -1 && errno == EPERM);
  CHECK(link("/", "/blah") == -1 && errno == EPERM);
  CHECK(link("/proc/self/cmdline", "/tmp/blah") == -1 && errno == EXDEV);
  CHECK(link("/proc/self/cmdline", "/blah") == -1 && errno == EXDEV);
  CHECK(link("/", "/") == -1 && errno == EEXIST);
  for (const char* path : {"/", "/tmp"}) {
    struct statvfs status{};
    CHECK(statvfs(path, &status) == 0);
    CHECK(status.f_bsize != 0 && status.f_blocks != 0 && status.f_files != 0);
    CHECK(status.f_bfree <= status.f_blocks && status.f_bavail <= status.f_blocks && status.f_ffree <= status.f_files);
  }
}

// The last thing that it does: nothing has its old name afterwards.
void roots() {
  CHECK(chroot("/tmp/missing") == -1 && errno == ENOENT);
  CHECK(chroot("/proc/self/exe") == -1 && errno == ENOTDIR);
  CHECK(syscall(SYS_chroot, nullptr) == -1 && errno == EFAULT);
  if (getpid() != 1) return;  // on Linux the superuser may
  CHECK(mkdir("/tmp/top", 0755) == 0 && mkdir("/tmp/top/inner", 0755) == 0 && mkdir("/tmp/outside", 0755) == 0);
  CHECK(symlink("/inner", "/tmp/top/link") == 0 && chdir("/tmp/outside") == 0);
  CHECK(chroot("/") == 0 && access("/tmp/top", F_OK) == 0);
  CHECK(chroot("/tmp/top") == 0 && access("/inner", F_OK) == 0 && access("/link", F_OK) == 0);
  CHECK(access("/tmp", F_OK) == -1 && errno == ENOENT && access("/../../inner", F_OK) == 0);
  char text[64];
  CHECK(access("../outside", F_OK) == 0);  // where it stands is outside, and stays so
  CHECK(access("../../../../tmp/outside", F_OK) == 0);
  CHECK(syscall(SYS_getcwd, text, sizeof text) == -1 && errno == ENOENT);
  CHECK(chdir("/link/..") == 0 && getcwd(text, sizeof text) == text && std::strcmp(text, "/") == 0);
}

// Times beyond the clock's end are no reason to come back at once.
void times() {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  const itimerspec far{{0, 0}, {INT64_MAX, 999'999'999}};
  CHECK(timer >= 0 && timerfd_settime(timer, 0, &far, nullptr) == 0);
  pollfd look{timer, POLLIN, 0};
  CHECK(poll(&look, 1, 0) == 0);
  std::uint64_t times = 0;
  CHECK(read(timer, &times, sizeof times) == -1 && errno == EAGAIN);
  itimerspec left{};
  CHECK(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_sec > 1'000'000'000);
  timeval wrong{INT64_MAX, 1'999'999};
  const auto raw_select = [&] { return syscall(SYS_select, 0, nullptr, nullptr, nullptr, &wrong); };
  CHECK(raw_select() == -1 && errno == EINVAL);  // the C library's own would wait for ever
  CHECK(select(-1, nullptr, nullptr, nullptr, nullptr) == -1 && errno == EINVAL);
  wrong = {0, -1};
  CHECK(raw_select() == -1 && errno == EINVAL);
  timeval short_one{0, 1'000};
  CHECK(select(0, nullptr, nullptr, nullptr, &short_one) == 0);
  close(timer);
}

}  // namespace

int main() {
  appending();
  synchronizing();
  names();
  times();
  roots();
  std::puts("files answer as Linux's");
}
