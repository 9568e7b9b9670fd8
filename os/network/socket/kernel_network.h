// KernelNetwork: the stack as the kernel has it: what it asks of the machine, the links that drivers found, the thread
// of its timers, and sockets for programs that are granted `network`.
//
//   driver's thread -- received --> [lock: Stack] <-- calls -- StreamSocket, DatagramSocket <-- a program
//                                      ^   |
//             timers' thread -- Alarm -'   '--> Link::send, PollSource::notify
#pragma once

#include "os/file/socket/socket_family.h"
#include "os/memory/kernel_memory.h"
#include "os/network/driven_link.h"
#include "os/network/socket/alarm.h"
#include "os/network/socket/network_files.h"
#include "os/network/socket/shared_stack.h"
#include "os/schedule/wait_queue.h"

namespace ingot::os {
struct Kernel;
}

namespace ingot::os::network {

class KernelNetwork final : public SocketMaker, private Machine, private LinkUser, private ConfigurationEvents {
 public:
  explicit KernelNetwork(Kernel& kernel);
  KernelNetwork(const KernelNetwork&) = delete;  // links point here
  KernelNetwork& operator=(const KernelNetwork&) = delete;

  // Its thread is there: what is in use now is so again when it has stopped.
  void begin();
  // From now on packets are taken in.
  Answer<void> add(DrivenLink& link, const Configuration& wanted);
  // What the timers' thread does; it does not return.
  [[noreturn]] void run_timers();
  NetworkFiles& files() { return files_; }
  // Sleeps until a link has all the addresses that it was to get; whether that was in time.
  bool await_addresses(Nanoseconds until);

  Answer<Reference<SocketFile>> make(const FileServices& services, std::uint16_t family, SocketKind kind,
                                     std::uint32_t protocol, std::uint32_t flags) override;
  void charge_to(ProgramAccount* account) override;
  void stop() override;

 private:
  Nanoseconds now() override;
  void fill_random(std::span<std::byte> bytes) override;
  HeapBlocks& blocks() override { return blocks_; }
  void wake_at(Nanoseconds time) override { alarm_.ring_at(time); }
  void received(Link& link, std::span<Received> packets) override;
  void link_changed(Link& link) override;
  void configured(Link& link, const Configuration& now) override;
  void address_taken(Link& link, const IpAddress& address) override;

  Kernel& kernel_;
  MemoryInUse in_use_before_;
  SocketMemory memory_;
  HeapBlocks blocks_;
  Alarm alarm_;
  Atomic<bool> has_addresses_;
  WaitQueue for_addresses_;
  SharedStack stack_;
  NetworkFiles files_{stack_};
};

}  // namespace ingot::os::network
