// DhcpClient: asks for an address of IPv4 on one interface, and keeps it (RFC 2131 4.4).
//
//   waiting -> selecting -> requesting -> probing -> bound -> renewing -> rebinding -> its time is over: waiting
//                              ^  the link came back: what we had is asked for again
//
// It comes before there are addresses, so it writes and reads UDP's header itself and gets port 68 before UDP does.
#pragma once

#include <cstdint>
#include <string_view>

#include "os/network/internet/address_keeper.h"
#include "os/network/internet/dhcp_message.h"
#include "os/network/internet/packet_sender.h"

namespace ingot::os::network {

class DhcpClient final : NetworkTimer {
 public:
  static constexpr std::uint16_t server_port = 67, client_port = 68;

  // The host's name has 63 bytes at most.
  DhcpClient(Surroundings& around, AddressKeeper& keeper, PacketSender& sender, std::string_view host_name,
             Interface& interface)
      : around_(around), keeper_(keeper), sender_(sender), host_name_(host_name), interface_(interface) {}
  ~DhcpClient() { around_.timers.clear(*this); }

  const Interface& interface() const { return interface_; }
  // The link is up, or went down.
  void start(Nanoseconds now);
  void stop();
  // To port 68; it begins with UDP's header.
  void received(const Arrival& arrival, Received& packet, Nanoseconds now);
  // What the keeper found out about our address.
  void address_ready(const IpAddress& address, Nanoseconds now);
  void address_taken(const IpAddress& address, Nanoseconds now);

 private:
  enum class State : std::uint8_t { stopped, waiting, selecting, requesting, probing, bound, renewing, rebinding };

  void expired(Nanoseconds now) override;
  void discover(Nanoseconds now);
  void request(const DhcpReply& offer, Nanoseconds now);
  void renew(Nanoseconds now);
  void granted(const DhcpReply& reply, Nanoseconds now);
  void bind(Nanoseconds now);
  void give_up(Nanoseconds now, Nanoseconds wait);
  void send(DhcpKind kind, Nanoseconds now);
  void send_datagram(const ByteChain& message, bool to_server);
  // The next time that we ask, twice as late as the last, and a little at random.
  void ask_again_later(Nanoseconds now);
  void begin_transaction(State state, Nanoseconds now);

  Surroundings& around_;
  AddressKeeper& keeper_;
  PacketSender& sender_;
  const std::string_view host_name_;
  Interface& interface_;
  DhcpCounters& counters_ = around_.counters.dhcp;
  State state_ = State::stopped;
  bool is_reboot_ = false;  // requesting what we had before the link went down
  std::uint8_t sent_ = 0;   // in this state
  std::uint32_t transaction_ = 0;
  Nanoseconds began_, wait_;
  DhcpReply lease_;  // offered or granted; of none, the address is ::
  Nanoseconds renew_at_ = forever, rebind_at_ = forever, end_ = forever;
};

}  // namespace ingot::os::network
