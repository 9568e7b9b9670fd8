// What packetdrill asks of a stack that it loads as a shared object (--so_filename): it looks for the function below by
// name, hands over a table, and calls what it finds there instead of the system. Every function gets `stack` first;
// those with the names of calls answer as calls do, by -1 and errno. The order is packetdrill's.
#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace ingot::network_scripts {

struct PacketdrillInterface {
  void* stack;
  void (*end)(void*);

  int (*socket)(void*, int family, int type, int protocol);
  int (*bind)(void*, int descriptor, const sockaddr* address, socklen_t bytes);
  int (*listen)(void*, int descriptor, int backlog);
  int (*accept)(void*, int descriptor, sockaddr* address, socklen_t* bytes);
  int (*connect)(void*, int descriptor, const sockaddr* address, socklen_t bytes);

  ssize_t (*read)(void*, int descriptor, void* to, size_t bytes);
  ssize_t (*readv)(void*, int descriptor, const iovec* to, int count);
  ssize_t (*recv)(void*, int descriptor, void* to, size_t bytes, int flags);
  ssize_t (*recvfrom)(void*, int descriptor, void* to, size_t bytes, int flags, sockaddr* from, socklen_t* from_bytes);
  ssize_t (*recvmsg)(void*, int descriptor, msghdr* message, int flags);
  ssize_t (*write)(void*, int descriptor, const void* from, size_t bytes);
  ssize_t (*writev)(void*, int descriptor, const iovec* from, int count);
  ssize_t (*send)(void*, int descriptor, const void* from, size_t bytes, int flags);
  ssize_t (*sendto)(void*, int descriptor, const void* from, size_t bytes, int flags, const sockaddr* to,
                    socklen_t to_bytes);
  ssize_t (*sendmsg)(void*, int descriptor, const msghdr* message, int flags);

  int (*fcntl)(void*, int descriptor, int command, ...);
  int (*ioctl)(void*, int descriptor, unsigned long request, ...);
  int (*close)(void*, int descriptor);
  int (*shutdown)(void*, int descriptor, int how);
  int (*getsockopt)(void*, int descriptor, int level, int name, void* value, socklen_t* bytes);
  int (*setsockopt)(void*, int descriptor, int level, int name, const void* value, socklen_t bytes);
  int (*poll)(void*, pollfd* files, nfds_t count, int milliseconds);

  // A packet of IP arrives.
  int (*netdev_send)(void*, const void* packet, size_t bytes);
  // The next packet that the stack sends, however long that takes; `bytes` is the room first.
  int (*netdev_receive)(void*, void* packet, size_t* bytes, long long* microseconds);
  int (*usleep)(void*, useconds_t microseconds);
  int (*gettimeofday)(void*, timeval* time, struct timezone* zone);

  int (*epoll_create)(void*, int size);
  int (*epoll_ctl)(void*, int watch, int operation, int descriptor, epoll_event* event);
  int (*epoll_wait)(void*, int watch, epoll_event* events, int most, int milliseconds);
  int (*pipe)(void*, int descriptors[2]);
  int (*splice)(void*, int from, loff_t* from_at, int to, loff_t* to_at, size_t bytes, unsigned flags);
};

extern "C" [[gnu::visibility("default")]] void packetdrill_interface_init(const char* flags, PacketdrillInterface* to);

}  // namespace ingot::network_scripts
