// UdpSocket: one end of datagrams. Nothing here sleeps: what cannot be done now answers EAGAIN.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/intrusive_list.h"
#include "os/network/udp/udp.h"

namespace ingot::os::network {

// What a program is told of a datagram beside its bytes.
struct DatagramNews {
  Endpoint from;
  IpAddress to;             // which of our addresses: a wildcard has many
  std::uint64_t bytes = 0;  // as it was sent; fewer may have fitted
};

class UdpSocket final : public Binding {
 public:
  static constexpr std::uint64_t default_receive_bytes = 212'992;

  UdpSocket(Udp& udp, SocketEvents& events, IpVersion version) : Binding(version), udp_(udp), events_(events) {}
  ~UdpSocket();

  Answer<void> bind(const Endpoint& local);
  // Datagrams go there and come from there only. Another remote end may follow.
  Answer<void> connect(const Endpoint& remote);
  Answer<void> disconnect();  // ENOTCONN
  const Endpoint& remote() const { return remote_; }
  bool is_connected() const { return remote_.port != 0; }

  // All that the transfer has becomes one datagram. Without `to` it goes to the remote end (else EDESTADDRREQ). With a
  // route it is sent that way, from whatever address the route says: DHCP has none yet.
  Answer<std::size_t> send_to(Transfer& from, const Endpoint* to, const Route* route = nullptr);
  // One datagram; what does not fit is gone with it, unless it is only looked at.
  Answer<std::size_t> receive(Transfer& to, Reading reading, DatagramNews& news);
  Answer<void> shut_down(bool reading, bool writing);  // ENOTCONN

  std::uint32_t events() const;                                 // poll_event bits that hold
  Errno take_error() { return std::exchange(error_, {}); }      // 0: none
  std::uint64_t next_bytes();                                   // of the datagram that would be received (FIONREAD)
  std::uint64_t waiting_cost() const { return waiting_cost_; }  // memory that those take which wait to be received

  std::uint64_t receive_bytes = default_receive_bytes;  // what datagrams that wait may take of memory
  bool may_broadcast = false;
  std::uint8_t hop_limit = 64, service = 0;

 private:
  friend class Udp;

  struct Datagram : ListLink<struct DatagramTag> {
    Datagram(const Flow& ends, HeapBlocks& blocks) : flow(ends), bytes(blocks) {}
    std::uint64_t cost() const { return sizeof(Datagram) + bytes.held_bytes(); }

    Flow flow;
    ByteChain bytes;
  };

  // How well a datagram of this flow fits; 0: it is not for this socket.
  int score(const Flow& flow) const;
  void arrived(const Flow& flow, ByteChain&& bytes);
  void refused(const Refusal& refusal);
  void drop(Datagram& datagram);
  Answer<void> bind_if_unbound() { return is_bound() ? Answer<void>() : bind({any_address(), 0}); }
  Answer<Route> route_to(const IpAddress& to, const IpAddress& from);
  Answer<void> take_bytes(Transfer& from, ByteChain& bytes);
  void transmit(const Route& route, const Endpoint& to, const ByteChain& bytes);

  Udp& udp_;
  SocketEvents& events_;
  IntrusiveList<Datagram, DatagramTag> waiting_;
  std::uint64_t waiting_cost_ = 0;
  Endpoint remote_;
  Route route_;                                               // to the remote end
  bool port_was_chosen_ = false, address_was_bound_ = false;  // what a dissolved connection leaves
  bool read_shut_ = false, write_shut_ = false;
  Errno error_{};
};

template <class Use>
void Udp::visit(Use&& use) {
  ports_.visit_all([&](Binding& binding) { use(static_cast<UdpSocket&>(binding)); });
}

}  // namespace ingot::os::network
