// A copy of gibibytes inside the kernel lets others have its CPU, and ends for a signal with what it has done.
// program-test: processors 1
// program-test: expect interrupted after some bytes
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/programs/check.h"

int main() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  const int from = open("/dev/zero", O_RDONLY), to = open("/dev/null", O_WRONLY);
  CHECK(from >= 0 && to >= 0);
  constexpr std::size_t wanted = std::size_t{1} << 40;
  ssize_t copied = 0;
  std::thread copier([&] { copied = sendfile(to, from, nullptr, wanted); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(pthread_kill(copier.native_handle(), SIGUSR1) == 0);
  copier.join();
  CHECK(copied > 0 && static_cast<std::size_t>(copied) < 0x7fff'f000);
  std::puts("interrupted after some bytes");
}
