#include "os/network/internet/interface.h"

namespace ingot::os::network {

HardwareAddress shared_hardware_address(const IpAddress& address) {
  if (!address.is_multicast()) return everybody;
  const IpAddress::V6& bytes = address.bytes();
  if (!address.is_v4()) return HardwareAddress{0x33, 0x33, bytes[12], bytes[13], bytes[14], bytes[15]};
  return HardwareAddress{0x01, 0x00, 0x5e, std::uint8_t(bytes[13] & 0x7f), bytes[14], bytes[15]};
}

bool Interface::send(const HardwareAddress& to, FrameKind kind, Outgoing& packet) {
  if (!is_loop()) packet.push_header<EthernetHeader>() = {to, hardware(), static_cast<std::uint16_t>(kind)};
  if (!link.send(packet)) return false;
  ++counters.sent;
  counters.sent_bytes += packet.bytes();
  return true;
}

}  // namespace ingot::os::network
