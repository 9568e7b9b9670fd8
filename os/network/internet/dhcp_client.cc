#include "os/network/internet/dhcp_client.h"

#include <algorithm>

#include "os/network/internet/packet_sum.h"

namespace ingot::os::network {

namespace {

// Where a server does not say: by the classes of old.
std::uint8_t prefix_bits_of(const DhcpReply& lease) {
  if (lease.prefix_bits != 0) return static_cast<std::uint8_t>(96 + lease.prefix_bits);
  const std::uint8_t first = lease.address.as_v4()[0];
  return first < 128 ? 104 : first < 192 ? 112 : 120;
}

}  // namespace

void DhcpClient::start(Nanoseconds now) {
  if (lease_.address.is_unspecified() || end_ <= now || interface_.find(lease_.address) == nullptr)
    return discover(now);
  is_reboot_ = true;
  begin_transaction(State::requesting, now);
  send(DhcpKind::request, now);
  ask_again_later(now);
}

void DhcpClient::stop() {
  state_ = State::stopped;
  around_.timers.clear(*this);
}

void DhcpClient::begin_transaction(State state, Nanoseconds now) {
  around_.machine.fill_random(std::as_writable_bytes(std::span(&transaction_, 1)));
  state_ = state;
  began_ = now;
  wait_ = InternetSettings::dhcp_first_wait;
  sent_ = 0;
}

void DhcpClient::ask_again_later(Nanoseconds now) {
  std::uint32_t random;
  around_.machine.fill_random(std::as_writable_bytes(std::span(&random, 1)));
  around_.timers.set(*this, now + wait_ + Nanoseconds(random % (wait_.count() / 4)));
  wait_ = std::min(wait_ * 2, InternetSettings::dhcp_longest_wait);
}

void DhcpClient::discover(Nanoseconds now) {
  if (!lease_.address.is_unspecified()) keeper_.forget(interface_, Origin::dhcp, IpVersion::v4);
  lease_ = {};
  is_reboot_ = false;
  begin_transaction(State::selecting, now);
  send(DhcpKind::discover, now);
  ask_again_later(now);
}

void DhcpClient::give_up(Nanoseconds now, Nanoseconds wait) {
  keeper_.forget(interface_, Origin::dhcp, IpVersion::v4);
  lease_ = {};
  state_ = State::waiting;
  around_.timers.set(*this, now + wait);
}

void DhcpClient::expired(Nanoseconds now) {
  switch (state_) {
    case State::stopped:
    case State::probing: break;
    case State::waiting: discover(now); break;
    case State::selecting:
      send(DhcpKind::discover, now);
      ask_again_later(now);
      break;
    case State::requesting:
      if (sent_ == InternetSettings::dhcp_requests) return discover(now);
      send(DhcpKind::request, now);
      ask_again_later(now);
      break;
    case State::bound: begin_transaction(State::renewing, now); [[fallthrough]];
    case State::renewing:
    case State::rebinding: renew(now); break;
  }
}

void DhcpClient::renew(Nanoseconds now) {
  if (now >= end_) {
    ++counters_.expired;
    return discover(now);
  }
  if (now >= rebind_at_) state_ = State::rebinding;
  const Nanoseconds limit = state_ == State::renewing ? rebind_at_ : end_;
  send(DhcpKind::request, now);
  const Nanoseconds half((limit - now).count() / 2);
  around_.timers.set(*this, std::min(limit, now + std::max(half, InternetSettings::dhcp_least_renewal)));
}

void DhcpClient::send(DhcpKind kind, Nanoseconds now) {
  ++sent_;
  DhcpQuestion question{kind, transaction_, 0, {}, {}, {}, host_name_};
  question.seconds = static_cast<std::uint16_t>(std::min<std::int64_t>((now - began_).count() / 1'000'000'000, 0xffff));
  const bool keeps = state_ == State::renewing || state_ == State::rebinding;
  if (keeps) {
    question.client = lease_.address;
  } else {
    question.requested = lease_.address;
    if (!is_reboot_) question.server = lease_.server;
  }
  HeapBlocks& blocks = around_.machine.blocks();
  Answer<Reference<Block>> block = blocks.create(dhcp_room);
  if (!block.ok()) return;
  const std::span<std::byte> room = block.value()->bytes();
  std::fill(room.begin(), room.end(), std::byte{0});
  const std::size_t bytes = write_dhcp(question, interface_.hardware(), room);
  ByteChain message(blocks);
  if (!message.add(std::move(block).value(), room.first(bytes)).ok()) return;
  ++counters_.sent;
  send_datagram(message, state_ == State::renewing);
}

void DhcpClient::send_datagram(const ByteChain& message, bool to_server) {
  const IpAddress to_all = IpAddress::v4(255, 255, 255, 255);
  Route route{&interface_.link,
              IpAddress::v4(0, 0, 0, 0),
              to_all,
              interface_.mtu(IpVersion::v4),
              around_.routes.version(),
              true};
  if (state_ == State::rebinding) route.source = lease_.address;
  if (to_server) {
    Answer<Route> found = around_.routes.find(lease_.server, lease_.address);
    if (!found.ok()) return;
    route = found.value();
  }
  const Travel travel{route.source, to_server ? lease_.server : to_all, Protocol::udp, 64, 0, true};
  Outgoing packet;
  packet.chain = &message;
  packet.payload_bytes = static_cast<std::uint32_t>(message.bytes());
  UdpHeader& header = packet.push_header<UdpHeader>();
  const auto bytes = static_cast<std::uint16_t>(packet.bytes());
  header = {client_port, server_port, bytes, 0};
  Checksum sum = pseudo_header(travel.from, travel.to, Protocol::udp, bytes);
  add_to(sum, packet);
  header.checksum = sum.result() == 0 ? std::uint16_t{0xffff} : sum.result();
  (void)sender_.send(route, travel, packet);
}

void DhcpClient::received(const Arrival& arrival, Received& packet, Nanoseconds now) {
  ++counters_.received;
  const std::span<const std::byte> datagram = packet.bytes.front(packet.bytes.bytes());
  DhcpReply reply;
  bool is_good = datagram.size() >= sizeof(UdpHeader);
  if (is_good) {
    const UdpHeader& header = *reinterpret_cast<const UdpHeader*>(datagram.data());
    const std::uint16_t bytes = header.bytes;
    is_good = header.source == server_port && bytes >= sizeof header && bytes <= datagram.size();
    if (is_good && header.checksum != 0 && !packet.transport_verified) {
      Checksum sum = pseudo_header(arrival.from, arrival.to, Protocol::udp, bytes);
      sum.add(datagram.first(bytes));
      is_good = sum.result() == 0;
    }
    is_good = is_good && read_dhcp(datagram.first(bytes).subspan(sizeof header), interface_.hardware(), reply) &&
              reply.transaction == transaction_;
  }
  if (!is_good) {
    ++counters_.bad;
    return;
  }
  const bool asked = state_ == State::requesting || state_ == State::renewing || state_ == State::rebinding;
  // The server that we chose; when we keep what we have, any may answer.
  const bool is_chosen = state_ != State::requesting || is_reboot_ || reply.server == lease_.server;
  if (state_ == State::selecting && reply.kind == DhcpKind::offer) return request(reply, now);
  if (!asked || !is_chosen) return;
  if (reply.kind == DhcpKind::refusal) {
    ++counters_.refusals;
    give_up(now, InternetSettings::dhcp_first_wait);
  } else if (reply.kind == DhcpKind::acknowledgment && reply.address == lease_.address) {
    granted(reply, now);
  }
}

void DhcpClient::request(const DhcpReply& offer, Nanoseconds now) {
  lease_ = offer;
  state_ = State::requesting;
  sent_ = 0;
  wait_ = InternetSettings::dhcp_first_wait;
  send(DhcpKind::request, now);
  ask_again_later(now);
}

void DhcpClient::granted(const DhcpReply& reply, Nanoseconds now) {
  lease_ = reply;
  renew_at_ = rebind_at_ = end_ = forever;
  if (reply.lease != DhcpReply::infinite) {
    const std::uint64_t lease = reply.lease;
    std::uint64_t renewal = reply.renewal != 0 ? reply.renewal : lease / 2;
    std::uint64_t rebinding = reply.rebinding != 0 ? reply.rebinding : lease * 7 / 8;
    if (renewal >= rebinding || rebinding >= lease) renewal = lease / 2, rebinding = lease * 7 / 8;
    const auto after = [&](std::uint64_t count) {
      return now + seconds(static_cast<std::int64_t>(std::max<std::uint64_t>(count, 1)));
    };
    renew_at_ = after(renewal);
    rebind_at_ = after(rebinding);
    end_ = after(lease);
  }
  const OwnAddress* const own = interface_.find(lease_.address);
  if (own != nullptr && own->state != OwnAddress::State::tentative) return bind(now);
  state_ = State::probing;
  around_.timers.clear(*this);
  if (own != nullptr) return;
  const OwnAddress added{lease_.address, prefix_bits_of(lease_), Origin::dhcp};
  if (!keeper_.add(interface_, added, now)) give_up(now, InternetSettings::dhcp_longest_wait);
}

void DhcpClient::bind(Nanoseconds now) {
  state_ = State::bound;
  ++counters_.leases;
  interface_.routes.remove_if([](const PrefixRoute& route) { return route.origin == Origin::dhcp; });
  interface_.name_servers.remove_if([](const NameServer& server) { return server.origin == Origin::dhcp; });
  keeper_.add(interface_, PrefixRoute{lease_.address, prefix_bits_of(lease_), {}, Origin::dhcp}, now);
  for (const IpAddress& router : lease_.routers) {
    keeper_.add(interface_, PrefixRoute{IpAddress::v4(0, 0, 0, 0), 96, router, Origin::dhcp}, now);
  }
  for (const IpAddress& server : lease_.name_servers) keeper_.add(interface_, NameServer{server, Origin::dhcp}, now);
  if (lease_.mtu >= InternetSettings::dhcp_least_mtu) interface_.asked_mtu = lease_.mtu;
  around_.routes.changed(interface_);
  if (renew_at_ == forever) {
    around_.timers.clear(*this);
  } else {
    around_.timers.set(*this, renew_at_);
  }
}

void DhcpClient::address_ready(const IpAddress& address, Nanoseconds now) {
  if (state_ == State::probing && address == lease_.address) bind(now);
}

void DhcpClient::address_taken(const IpAddress& address, Nanoseconds now) {
  if (state_ == State::stopped || address != lease_.address) return;
  ++counters_.declined;
  is_reboot_ = false;
  state_ = State::waiting;
  send(DhcpKind::decline, now);
  give_up(now, InternetSettings::dhcp_decline_wait);
}

}  // namespace ingot::os::network
