// A card with a device that tests play, and a user that remembers what it is told.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "os/device/virtio/fake_virtio_device.h"
#include "os/device/virtio/network/virtio_network.h"

namespace ingot::os {

class RecordingUser final : public network::LinkUser {
 public:
  void received(network::Link&, std::span<network::Received> came) override {
    ++calls;
    for (network::Received& packet : came) {
      std::string text(packet.bytes.bytes(), 0);
      packet.bytes.copy_out(0, std::as_writable_bytes(std::span(text)));
      texts.push_back(text);
      verified.push_back(packet.transport_verified);
      segments.push_back(packet.segment_bytes);
      packet.bytes.clear();
    }
  }
  void link_changed(network::Link&) override { ++changes; }

  std::vector<std::string> texts;
  std::vector<bool> verified;
  std::vector<std::uint16_t> segments;
  int calls = 0, changes = 0;
};

class VirtioCard : public VirtioMachine {
 protected:
  static constexpr network::HardwareAddress fallback{2, 0, 0, 0, 0, 1};

  VirtioCard() {
    using namespace virtio_network;
    device.state.offered = virtio_version_1 | virtio_event_index | merged_buffers | address | mtu | status;
    device.fields.bytes = {0x52, 0x54, 0, 0x12, 0x34, 0x56, 1, 0, 1, 0, 0xdc, 0x05};  // MTU 1500
  }
  Result<void> start(std::size_t cpus = 1) {
    card.emplace(device, virtio_memory(), log);
    TRY(card->prepare("eth0", fallback, cpus));
    TRY(card->start(interrupts.services()));
    card->attach(user);
    return {};
  }
  void end() {
    card.reset();
    expect_all_given_back();
  }
  FakeVirtioRing& receiving() { return device.state.rings[0]; }
  FakeVirtioRing& sending() { return device.state.rings[1]; }
  VirtioNetwork::Pair& pair() { return card->pairs()[0]; }

  // The device writes into its next buffer. How many bytes it took, headers included.
  void put(const VirtioNetworkHeader* header, std::string_view text, std::uint32_t claimed = ~0u) {
    const std::uint16_t head = receiving().next_chain().value();
    const auto buffer = receiving().chain(head).at(0);
    auto* to = memory.window().at<char>(PhysicalAddress(buffer.address));
    std::uint32_t bytes = 0;
    if (header != nullptr) {
      std::memcpy(to, header, sizeof *header);
      bytes = sizeof *header;
    }
    ASSERT_LE(bytes + text.size(), buffer.bytes);
    std::memcpy(to + bytes, text.data(), text.size());
    receiving().put(head, claimed != ~0u ? claimed : bytes + static_cast<std::uint32_t>(text.size()));
  }
  void arrive(std::string_view text) {
    const VirtioNetworkHeader header{.buffers = 1};
    put(&header, text);
    receiving().show();
  }
  std::string sent(std::uint16_t head) {
    std::string all;
    for (const auto& piece : sending().chain(head)) {
      all.append(memory.window().at<char>(PhysicalAddress(piece.address)), piece.bytes);
    }
    return all;
  }
  // A chain of so many blocks with so many bytes each, 'a' and so on.
  network::ByteChain payload(int count, std::size_t bytes) {
    network::ByteChain chain(blocks);
    for (int i = 0; i < count; ++i) {
      auto block = blocks.create(bytes).value();
      const std::span<std::byte> all = block->bytes();
      std::memset(all.data(), 'a' + i % 26, bytes);
      EXPECT_TRUE(chain.add(std::move(block), all).ok());
    }
    return chain;
  }
  static network::Outgoing outgoing(const network::ByteChain* chain, std::size_t header_bytes = 14) {
    network::Outgoing packet;
    std::memset(packet.push_bytes(header_bytes).data(), 'H', header_bytes);
    packet.chain = chain;
    packet.payload_bytes = chain != nullptr ? static_cast<std::uint32_t>(chain->bytes()) : 0;
    return packet;
  }

  Log log;
  network::HeapBlocks blocks{heap};
  RecordingUser user;
  std::optional<VirtioNetwork> card;
};

}  // namespace ingot::os
