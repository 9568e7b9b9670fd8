#include "os/device/virtio/network/virtio_network_settings.h"

#include "os/device/virtio/network/receive_blocks.h"

namespace ingot::os {

namespace {

// Of the card's configuration.
constexpr std::uint32_t pairs_at = 8, mtu_at = 10;
constexpr std::uint16_t least_mtu = 68, usual_mtu = 1500;  // the least is IPv4's (RFC 791)
// Ethernet's header with a tag of a virtual network, and ours.
constexpr std::uint32_t around_packets = 18 + sizeof(VirtioNetworkHeader);

}  // namespace

std::uint64_t virtio_network::choose(std::uint64_t offered) {
  std::uint64_t chosen = offered & (mtu | address | merged_buffers | status | virtio_event_index | checksum |
                                    guest_checksum | control_queue);
  if ((offered & checksum) != 0) chosen |= offered & (host_segments_v4 | host_segments_v6);
  // A joined packet of 64 KiB lies in several buffers, or each would have to be so large.
  if ((offered & guest_checksum) != 0 && (offered & merged_buffers) != 0) {
    chosen |= offered & (guest_segments_v4 | guest_segments_v6);
  }
  if ((offered & control_queue) != 0) chosen |= offered & several_pairs;
  return chosen;
}

Result<VirtioNetworkSettings> VirtioNetworkSettings::agree(VirtioDevice& device,
                                                           const network::HardwareAddress& fallback) {
  using namespace virtio_network;
  VirtioNetworkSettings settings;
  settings.features = TRY(device.begin(choose));
  settings.link.address = fallback;
  settings.link.mtu = usual_mtu;
  TRY(device.read_configuration([&] {
    for (std::uint32_t i = 0; settings.has(address) && i < settings.link.address.size(); ++i) {
      settings.link.address[i] = device.configuration<std::uint8_t>(i);
    }
    if (settings.has(several_pairs)) settings.most_pairs = device.configuration<std::uint16_t>(pairs_at);
    if (settings.has(virtio_network::mtu)) settings.link.mtu = device.configuration<std::uint16_t>(mtu_at);
  }));
  if ((settings.link.address[0] & 1) != 0 || settings.link.address == network::HardwareAddress{}) {
    return Error::of(ErrorCode::corrupt, "expected the address of one card, found one of many or none");
  }
  if (settings.link.mtu < least_mtu || settings.most_pairs < 1 || settings.most_pairs > 0x8000) {
    return Error::of(ErrorCode::corrupt, "expected an MTU from ", least_mtu,
                     " on and 1 to 32768 pairs of queues, found ", settings.link.mtu, " and ", settings.most_pairs);
  }
  constexpr std::uint32_t most_alone = ReceiveBlocks::block_bytes - around_packets;
  if (!settings.has(merged_buffers) && settings.link.mtu > most_alone) settings.link.mtu = most_alone;
  settings.link.computes_checksums = settings.has(checksum);
  settings.link.cuts_v4 = settings.has(host_segments_v4);
  settings.link.cuts_v6 = settings.has(host_segments_v6);
  return settings;
}

}  // namespace ingot::os
