#include "os/network/udp/udp_socket.h"

#include <algorithm>

#include "os/file/poll.h"

namespace ingot::os::network {
namespace {

// What one datagram may carry beside its header and, of IPv4, the packet's.
constexpr std::uint64_t most_bytes(const IpAddress& to) {
  return 65'535 - sizeof(UdpHeader) - (to.is_v4() ? sizeof(Ipv4Header) : 0);
}

// The header's checksum: done here, or left to the link where the packet goes as it is.
void set_checksum(const Route& route, const Travel& travel, Outgoing& packet, UdpHeader& header) {
  Checksum sum = pseudo_header(travel.from, travel.to, Protocol::udp, header.bytes);
  const std::size_t before = travel.to.is_v4() ? sizeof(Ipv4Header) : sizeof(Ipv6Header);
  if (route.link->properties().computes_checksums && before + packet.bytes() <= route.mtu) {
    header.checksum = sum.folded();
    packet.checksum_from_end = sizeof(UdpHeader);
    packet.checksum_field = offsetof(UdpHeader, checksum);
    return;
  }
  header.checksum = 0;
  sum.add(packet.header());
  packet.chain->visit(0, packet.payload_bytes, [&](Block&, std::span<std::byte> part) { sum.add(part); });
  // 0 would say that there is none; its other form in ones' complement does not.
  header.checksum = sum.result() == 0 ? std::uint16_t{0xffff} : sum.result();
}

}  // namespace

UdpSocket::~UdpSocket() {
  udp_.ports_.release(*this);
  while (Datagram* const first = waiting_.first()) drop(*first);
}

Answer<void> UdpSocket::bind(const Endpoint& local) {
  TRY(udp_.ports_.bind(*this, local));
  port_was_chosen_ = local.port == 0;
  address_was_bound_ = !local.address.is_unspecified();
  return {};
}

Answer<Route> UdpSocket::route_to(const IpAddress& to, const IpAddress& from) {
  if (!may_reach(to)) return Errno::enetunreach;
  return udp_.internet_.route(to, from.is_unspecified() ? IpAddress() : from);
}

Answer<void> UdpSocket::connect(const Endpoint& remote) {
  if (remote.port == 0) return Errno::einval;
  const Endpoint wanted{or_loopback(remote.address), remote.port};
  TRY(bind_if_unbound());
  const Route route = TRY(route_to(wanted.address, address_was_bound_ ? local().address : IpAddress()));
  if (route.to_many && !may_broadcast) return Errno::eacces;
  route_ = route;
  if (!address_was_bound_) udp_.ports_.set_address(*this, route_.source);
  remote_ = wanted;
  return {};
}

Answer<void> UdpSocket::disconnect() {
  if (!is_connected()) return Errno::enotconn;
  remote_ = {};
  if (!address_was_bound_) udp_.ports_.set_address(*this, any_address());
  if (port_was_chosen_) udp_.ports_.release(*this);
  return {};
}

Answer<void> UdpSocket::take_bytes(Transfer& from, ByteChain& bytes) {
  constexpr std::uint64_t most_block = 16 * 1024;  // longer ones are hard to find in a full memory
  while (from.left() != 0) {
    Reference<Block> block = TRY(udp_.machine_.blocks().create(std::min(from.left(), most_block)));
    const std::span<std::byte> room = block->bytes();
    if (TRY(from.take(room)) != room.size()) return Errno::efault;
    TRY(bytes.add(std::move(block), room));
  }
  return {};
}

Answer<std::size_t> UdpSocket::send_to(Transfer& from, const Endpoint* to, const Route* route) {
  if (error_ != Errno{}) return take_error();
  if (write_shut_) return Errno::epipe;
  if (to == nullptr && !is_connected()) return Errno::edestaddrreq;
  if (to != nullptr && to->port == 0) return Errno::einval;
  const Endpoint remote = to != nullptr ? Endpoint{or_loopback(to->address), to->port} : remote_;
  if (from.left() > most_bytes(remote.address)) return Errno::emsgsize;
  TRY(bind_if_unbound());
  if (route == nullptr && to == nullptr && route_.version != udp_.internet_.route_version()) {
    route_ = TRY(route_to(remote.address, local().address));
  }
  const Route way = route != nullptr ? *route : to == nullptr ? route_ : TRY(route_to(remote.address, local().address));
  if (way.to_many && !may_broadcast) return Errno::eacces;

  ByteChain bytes(udp_.machine_.blocks());
  TRY(take_bytes(from, bytes));
  transmit(way, remote, bytes);
  return bytes.bytes();
}

void UdpSocket::transmit(const Route& route, const Endpoint& to, const ByteChain& bytes) {
  Outgoing packet;
  packet.chain = &bytes;
  packet.payload_bytes = static_cast<std::uint32_t>(bytes.bytes());
  UdpHeader& header = packet.push_header<UdpHeader>();
  header.source = local().port;
  header.destination = to.port;
  header.bytes = static_cast<std::uint16_t>(packet.bytes());
  const Travel travel{route.source, to.address, Protocol::udp, hop_limit, service, true};
  set_checksum(route, travel, packet, header);
  // A link without room loses datagrams, as any queue on the way may.
  ++(udp_.internet_.send(route, travel, packet) ? udp_.counters_.sent : udp_.counters_.unsent);
}

Answer<std::size_t> UdpSocket::receive(Transfer& to, Reading reading, DatagramNews& news) {
  if (error_ != Errno{}) return take_error();
  Datagram* const first = waiting_.first();
  if (first == nullptr && read_shut_) return std::size_t{0};
  if (first == nullptr) return Errno::eagain;
  news = {first->flow.remote, first->flow.local.address, first->bytes.bytes()};
  const std::uint64_t wanted = std::min(to.left(), first->bytes.bytes());
  const Answer<std::size_t> given = first->bytes.give(to, 0, wanted);
  // One that cannot be handed over whole is lost, as on Linux.
  if (reading == Reading::takes) drop(*first);
  if (given.ok() && given.value() != wanted) return Errno::efault;
  if (!given.ok()) return given.error();
  return given.value();
}

Answer<void> UdpSocket::shut_down(bool reading, bool writing) {
  if (!is_connected()) return Errno::enotconn;
  read_shut_ = read_shut_ || reading;
  write_shut_ = write_shut_ || writing;
  events_.changed(events());
  return {};
}

std::uint32_t UdpSocket::events() const {
  using namespace poll_event;
  std::uint32_t events = writable | write_normal;
  if (waiting_cost_ != 0 || read_shut_) events |= readable | read_normal;
  if (read_shut_) events |= peer_closed;
  if (read_shut_ && write_shut_) events |= hang_up;
  if (error_ != Errno{}) events |= poll_event::error;
  return events;
}

std::uint64_t UdpSocket::next_bytes() {
  const Datagram* const first = waiting_.first();
  return first == nullptr ? 0 : first->bytes.bytes();
}

int UdpSocket::score(const Flow& flow) const {
  if (is_connected() && remote_ != flow.remote) return 0;
  const int fitting = fit(flow.local.address);
  return is_connected() && fitting != 0 ? 4 : fitting;
}

void UdpSocket::arrived(const Flow& flow, ByteChain&& bytes) {
  HeapBlocks& blocks = udp_.machine_.blocks();
  // One is always taken: a buffer that a program made tiny would take none.
  const bool fits = waiting_.is_empty() ||
                    (waiting_cost_ + sizeof(Datagram) + bytes.held_bytes() <= receive_bytes && !blocks.is_full());
  const bool is_taken = fits && blocks.may_hold(bytes.held_bytes());
  Datagram* const datagram = is_taken ? blocks.make<Datagram>(flow, blocks) : nullptr;
  if (datagram == nullptr) {
    ++udp_.counters_.no_room;
    return;
  }
  datagram->bytes.append(std::move(bytes));
  waiting_.push_back(*datagram);
  waiting_cost_ += datagram->cost();
  ++udp_.counters_.received;
  events_.changed(poll_event::readable | poll_event::read_normal);
}

void UdpSocket::refused(const Refusal& refusal) {
  // The others may pass: they are reported to those who ask for every one (IP_RECVERR).
  if (refusal.kind == Refusal::Kind::unreachable_port) {
    error_ = Errno::econnrefused;
  } else if (refusal.kind == Refusal::Kind::prohibited) {
    error_ = refusal.to.is_v4() ? Errno::ehostunreach : Errno::eacces;
  } else {
    return;
  }
  events_.changed(events());
}

void UdpSocket::drop(Datagram& datagram) {
  waiting_cost_ -= datagram.cost();
  waiting_.remove(datagram);
  udp_.machine_.blocks().destroy(datagram);
}

}  // namespace ingot::os::network
