// A kernel that has a network does not give it to a program that was granted something else, by whatever way it asks.
// program-test: kernel full
// program-test: cast --grant pci
// program-test: expect without network: refused
// program-test: never network: eth0
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <initializer_list>

#include "tests/programs/check.h"

int main() {
  for (const int family : {AF_INET, AF_INET6}) {
    for (const int type :
         std::initializer_list<int>{SOCK_STREAM, SOCK_DGRAM, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC}) {
      CHECK(socket(family, type, 0) == -1 && errno == EACCES);
    }
  }
  const int local = socket(AF_UNIX, SOCK_STREAM, 0);  // which is no network
  CHECK(local >= 0 && close(local) == 0);
  std::printf("without network: refused\n");
}
