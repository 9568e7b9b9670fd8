// /dev/accelerator: how a program of a booted machine reaches its accelerator, through Ingot's kernel.
//
// The node is one program's at a time: open() fails with EBUSY while another one has it, with ENXIO where the device is
// lost. mmap() of its first client_bytes, shared, to be read and written, shows the client's part of the shared memory
// (layout.h), where the program gives commands and reads answers as a Linux process does. What else there is to be
// asked of the kernel are these numbers of ioctl(), in Linux's format. close() unmaps all, and tells the worker.
//
// Packets that are in the ring at the close stay there, and are refused where they name memory. Who opens the node next
// waits for a packet of his own, a barrier, before he shows any: they may name the same addresses.
//
// A program promises no order of its accesses (Promise::nothing): it cannot know whether its machine keeps fences.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::accelerator {

inline constexpr const char* node_path = "/dev/accelerator";

// Shows whole pages of the program to the worker, with no right that the program does not have there. They stay where
// they are until they are unmapped, also where the program lets them go. EFAULT where something there is not mapped so,
// or is no memory of the machine, EINVAL where the range cannot be or some of it is shown already, ENOMEM.
struct NodeMap {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t flags = 0;  // right_write, or nothing
  std::uint32_t reserved = 0;
};

// A range that was shown, by its first address. EINVAL where there is none.
struct NodeUnmap {
  std::uint64_t address = 0;
};

// Waits until an answer or a fault was told since the last wait returned: 1; 0 where the time is over before. EIO where
// the worker is lost, EINTR where a signal came.
struct NodeWait {
  std::uint64_t nanoseconds = 0;
};

namespace node_detail {

// Linux's _IOW('I', number, size) and _IO('I', number).
constexpr std::uint32_t code(std::uint32_t number, std::size_t argument_bytes) {
  const std::uint32_t direction = argument_bytes > 0 ? 1 : 0;
  return direction << 30 | static_cast<std::uint32_t>(argument_bytes) << 16 | std::uint32_t{'I'} << 8 | number;
}

}  // namespace node_detail

inline constexpr std::uint32_t node_map = node_detail::code(0x40, sizeof(NodeMap));
inline constexpr std::uint32_t node_unmap = node_detail::code(0x41, sizeof(NodeUnmap));
inline constexpr std::uint32_t node_ring = node_detail::code(0x42, 0);  // rings the worker
inline constexpr std::uint32_t node_wait = node_detail::code(0x43, sizeof(NodeWait));

static_assert(sizeof(NodeMap) == 24 && sizeof(NodeUnmap) == 8 && sizeof(NodeWait) == 8);
static_assert(node_map == 0x4018'4940 && node_ring == 0x0000'4942);

}  // namespace ingot::accelerator
