// As many files as the manifest says, and no more: the table grows by need, and an accept without a number left keeps
// its connection.
//
// program-test: cast --descriptors 65536
// program-test: expect 65536 descriptors, and no more
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>

#include "tests/programs/check.h"

int main() {
  constexpr rlim_t most = 65'536;
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == most && limit.rlim_max == most);
  limit.rlim_cur = 100;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = most;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_max = limit.rlim_cur = most + 1;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == -1 && errno == EPERM);

  const int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  name.sun_path[1] = 'd';
  const auto* const address = reinterpret_cast<sockaddr*>(&name);
  constexpr socklen_t bytes = offsetof(sockaddr_un, sun_path) + 2;
  CHECK(bind(listener, address, bytes) == 0 && listen(listener, 1) == 0 && connect(client, address, bytes) == 0);
  int last = client;
  for (int number = dup(client); number >= 0; number = dup(client)) {
    CHECK(number == last + 1);
    last = number;
  }
  CHECK(errno == EMFILE && last == static_cast<int>(most) - 1);
  CHECK(accept(listener, nullptr, nullptr) == -1 && errno == EMFILE);
  CHECK(close(1000) == 0 && accept(listener, nullptr, nullptr) == 1000);  // it waited
  CHECK(write(last, "x", 1) == 1);
  char letter = 0;
  CHECK(read(1000, &letter, 1) == 1 && letter == 'x');
  std::printf("%lu descriptors, and no more\n", most);
}
