#include "tests/network/ingot_machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "os/network/wire/headers.h"

namespace ingot::network_scripts {
namespace {

using os::network::ArpPacket;
using os::network::EthernetHeader;
using os::network::FrameKind;
using os::network::HardwareAddress;

constexpr HardwareAddress our_hardware{2, 0, 0, 0, 0, 1}, gateway_hardware{2, 0, 0, 0, 0, 2};
constexpr std::uint8_t neighbour_solicitation = 135, neighbour_advertisement = 136;
constexpr std::uint32_t solicited_and_override = 0x6000'0000;

template <class Header>
void append_as_bytes(Bytes& bytes, const Header& header) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&header);
  bytes.insert(bytes.end(), begin, begin + sizeof(header));
}

Bytes frame_of(FrameKind kind, std::span<const std::uint8_t> content) {
  Bytes bytes;
  append_as_bytes(bytes, EthernetHeader{our_hardware, gateway_hardware, static_cast<std::uint16_t>(kind)});
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

}  // namespace

void* HostHeap::take(std::size_t bytes, std::size_t alignment) {
  if (left == 0) return nullptr;
  --left;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

HostHeap::~HostHeap() {
  if (!expect_no_leak().ok()) std::abort();
}

void HostHeap::give_back(void* block, std::size_t, std::size_t) { std::free(block); }

void IngotMachine::fill_random(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
}

os::network::Received IngotMachine::packet(std::span<const std::uint8_t> bytes) {
  const int left = std::exchange(heap_.left, INT_MAX);
  os::Reference<os::network::Block> block = blocks_.create(std::max<std::size_t>(bytes.size(), 1)).value();
  std::memcpy(block->bytes().data(), bytes.data(), bytes.size());
  os::network::Received packet{os::network::ByteChain(blocks_)};
  const std::span<std::byte> all = block->bytes().first(bytes.size());
  packet.bytes.add(std::move(block), all).value();
  heap_.left = left;
  return packet;
}

IngotLink::IngotLink(IngotMachine& machine, const Environment& place) : machine_(machine), place_(place) {
  properties_.name = "eth0";
  properties_.address = our_hardware;
  properties_.mtu = place.mtu;
}

bool IngotLink::send(const os::network::Outgoing& packet) {
  Bytes bytes(packet.bytes());
  const std::size_t header = packet.header().size();
  std::memcpy(bytes.data(), packet.header().data(), header);
  if (packet.payload_bytes != 0) {
    packet.chain->copy_out(packet.payload_begin, std::as_writable_bytes(std::span(bytes).subspan(header)));
  }
  EthernetHeader ethernet;
  std::memcpy(static_cast<void*>(&ethernet), bytes.data(), sizeof(ethernet));
  bytes.erase(bytes.begin(), bytes.begin() + sizeof(ethernet));
  if (ethernet.kind == static_cast<std::uint16_t>(FrameKind::arp)) {
    answer_arp(bytes);
  } else {
    if (ethernet.kind == static_cast<std::uint16_t>(FrameKind::ipv6)) answer_neighbour(bytes);
    sent.push_back({machine_.time.count() / 1000, std::move(bytes)});
  }
  return true;
}

Bytes IngotLink::frame(std::span<const std::uint8_t> packet) const {
  return frame_of(packet[0] >> 4 == 4 ? FrameKind::ipv4 : FrameKind::ipv6, packet);
}

// Who asks for its own address, to see whether somebody has it, is not answered.
void IngotLink::answer_arp(std::span<const std::uint8_t> bytes) {
  ArpPacket question;
  if (bytes.size() < sizeof(question)) return;
  std::memcpy(static_cast<void*>(&question), bytes.data(), sizeof(question));
  if (question.operation != ArpPacket::request || IpAddress(question.target) != place_.gateway) return;
  ArpPacket answer = question;
  answer.operation = ArpPacket::reply;
  answer.sender_hardware = gateway_hardware;
  answer.sender = question.target;
  answer.target_hardware = question.sender_hardware;
  answer.target = question.sender;
  Bytes content;
  append_as_bytes(content, answer);
  answers.push_back(frame_of(FrameKind::arp, content));
}

void IngotLink::answer_neighbour(std::span<const std::uint8_t> bytes) {
  const Result<WirePacket> question = from_bytes(bytes);
  if (!question.ok() || question.value().protocol != ScriptProtocol::icmp ||
      question.value().icmp_type != neighbour_solicitation || question.value().payload.size() < 16 ||
      !std::equal(place_.gateway.bytes().begin(), place_.gateway.bytes().end(), question.value().payload.begin())) {
    return;
  }
  WirePacket answer;
  answer.protocol = ScriptProtocol::icmp;
  answer.from.address = place_.gateway;
  answer.to = question.value().from;
  answer.icmp_type = neighbour_advertisement;
  answer.icmp_rest = solicited_and_override;
  answer.payload.assign(place_.gateway.bytes().begin(), place_.gateway.bytes().end());
  answer.payload.insert(answer.payload.end(), {2, 1});  // the target's hardware address, eight bytes
  answer.payload.insert(answer.payload.end(), gateway_hardware.begin(), gateway_hardware.end());
  answers.push_back(frame_of(FrameKind::ipv6, to_bytes(answer)));
}

}  // namespace ingot::network_scripts
