// What programs ask of interfaces by ioctl on any socket of the Internet (man 7 netdevice).
#pragma once

#include "os/network/socket/shared_stack.h"

namespace ingot::os {
class ControlCaller;
}

namespace ingot::os::network {

// ENOTTY: no request of these; ENODEV: no such interface; EADDRNOTAVAIL: it has no address of IPv4.
Answer<std::int64_t> control_interfaces(SharedStack& shared, std::uint32_t request, std::uint64_t argument,
                                        ControlCaller& caller);

}  // namespace ingot::os::network
