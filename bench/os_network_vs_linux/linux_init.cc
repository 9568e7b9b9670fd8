// /init of the Linux guest: loads the card's driver, gives the card an address, and becomes the program.
//
//   init ADDRESS MASK GATEWAY PROGRAM [ARGUMENT...]
//
// The modules lie in /modules, and the kernel hands over the words that stand behind "--" on its command line.
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

// In the order in which they need each other.
constexpr const char* modules[] = {"virtio", "virtio_ring", "virtio_mmio", "failover", "net_failover", "virtio_net"};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  reboot(RB_POWER_OFF);
  _exit(1);
}

void load(const char* name) {
  char path[64];
  std::snprintf(path, sizeof path, "/modules/%s.ko", name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || syscall(SYS_finit_module, file, "", 0) != 0) fail(path);
  close(file);
}

sockaddr address_of(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, text, &address.sin_addr) != 1) fail(text);
  sockaddr generic;
  std::memcpy(&generic, &address, sizeof generic);
  return generic;
}

void configure(const char* address, const char* mask, const char* gateway) {
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto set = [&](const char* interface, unsigned long what, const auto& fill) {
    ifreq request{};
    std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
    fill(request);
    if (ioctl(control, what, &request) != 0) fail(interface);
  };
  const auto up = [](ifreq& request) { request.ifr_flags = IFF_UP | IFF_RUNNING; };
  set("lo", SIOCSIFFLAGS, up);
  set("eth0", SIOCSIFADDR, [&](ifreq& request) { request.ifr_addr = address_of(address); });
  set("eth0", SIOCSIFNETMASK, [&](ifreq& request) { request.ifr_netmask = address_of(mask); });
  set("eth0", SIOCSIFFLAGS, up);
  rtentry route{};
  route.rt_dst = route.rt_genmask = address_of("0.0.0.0");
  route.rt_gateway = address_of(gateway);
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  if (ioctl(control, SIOCADDRT, &route) != 0) fail("route");
  close(control);
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) fail("expected ADDRESS MASK GATEWAY PROGRAM");
  if (mount("proc", "/proc", "proc", 0, nullptr) != 0) fail("/proc");
  if (mount("dev", "/dev", "devtmpfs", 0, nullptr) != 0) fail("/dev");
  for (const char* name : modules) load(name);
  configure(words[1], words[2], words[3]);
  execv(words[4], words + 4);
  fail(words[4]);
}
