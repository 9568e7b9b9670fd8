// What a virtio network card offers, and what of it is used (virtio 1.2, 5.1).
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "os/device/virtio/virtio_device.h"
#include "os/network/link.h"

namespace ingot::os {

// Bits of features.
namespace virtio_network {
constexpr std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }
inline constexpr std::uint64_t checksum = bit(0), guest_checksum = bit(1), mtu = bit(3), address = bit(5),
                               guest_segments_v4 = bit(7), guest_segments_v6 = bit(8), host_segments_v4 = bit(11),
                               host_segments_v6 = bit(12), merged_buffers = bit(15), status = bit(16),
                               control_queue = bit(17), several_pairs = bit(22);
// Of those that a device offers: what asks for another one is left out where that is missing.
std::uint64_t choose(std::uint64_t offered);
}  // namespace virtio_network

// Before every frame, both ways; little-endian.
struct VirtioNetworkHeader {
  static constexpr std::uint8_t needs_checksum = 1, checksum_valid = 2;                // flags
  static constexpr std::uint8_t whole = 0, tcp_v4 = 1, tcp_v6 = 4, congestion = 0x80;  // segmentation
  std::uint8_t flags = 0, segmentation = whole;
  std::uint16_t header_bytes = 0, segment_bytes = 0;
  std::uint16_t checksum_begin = 0, checksum_offset = 0;
  std::uint16_t buffers = 0;  // that a received frame lies in
};
static_assert(sizeof(VirtioNetworkHeader) == 12);

struct VirtioNetworkSettings {
  std::uint64_t features = 0;
  network::LinkProperties link;
  std::uint16_t most_pairs = 1;  // of queues, as the device has them

  bool has(std::uint64_t feature) const { return (features & feature) != 0; }
  std::uint16_t control_queue() const { return static_cast<std::uint16_t>(2 * most_pairs); }

  // Resets the device, and agrees with it. `fallback`: an address for a card that has none.
  static Result<VirtioNetworkSettings> agree(VirtioDevice& device, const network::HardwareAddress& fallback);
};

}  // namespace ingot::os
