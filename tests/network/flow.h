// Flow: the connection that a script speaks of, or the datagrams, and how its numbers become the stack's and back. A
// script counts from the first SYN of each side; ports, first sequence numbers and timestamps are the stack's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "tests/network/wire_packet.h"

namespace ingot::network_scripts {

class Flow {
 public:
  static Flow listening() { return Flow(Stage::listening, {}, {}); }
  static Flow connecting(const Endpoint& local, const Endpoint& remote) {
    return Flow(Stage::connecting, local, remote);
  }
  // A packet came in for a listener, or for nobody.
  static Flow answering(const Endpoint& local, const Endpoint& remote, std::uint32_t first_sequence);

  // The local port is the one that the stack sends from, where it does.
  static Flow of_datagrams(const Endpoint& local, const Endpoint& remote) {
    return Flow(Stage::datagrams, local, remote);
  }

  bool has_datagrams() const { return stage_ == Stage::datagrams; }
  bool is_listening() const { return stage_ == Stage::listening; }

  // A script's line, as the stack is to get it. An error where it echoes a timestamp that was never sent.
  Result<WirePacket> to_live(const PacketLine& line);
  // What an ICMP message says of a packet of ours.
  WirePacket echoed(const PacketLine& line) const;

  // Whether the stack sent it within this connection. The first SYN decides our port and sequence number.
  bool owns(const WirePacket& live);
  // In the script's numbers.
  WirePacket to_script(const WirePacket& live, const PacketLine& expected);
  // The line's timestamp stands for this one from now on.
  void learn_timestamp(const WirePacket& live, const PacketLine& expected);

 private:
  enum class Stage { datagrams, listening, connecting, syn_sent, syn_received, answered };

  Flow(Stage stage, const Endpoint& local, const Endpoint& remote) : stage_(stage), local_(local), remote_(remote) {}

  std::uint32_t local_offset(bool is_syn) const { return is_syn ? live_first_ - script_first_ : live_first_; }
  std::uint32_t remote_offset(bool is_syn) const { return is_syn ? 0 : remote_first_; }

  Stage stage_;
  Endpoint local_, remote_;
  std::uint32_t live_first_ = 0, script_first_ = 0;  // of our SYN
  std::uint32_t remote_first_ = 0;
  std::map<std::uint32_t, std::uint32_t> live_timestamps_;  // by the script's
};

}  // namespace ingot::network_scripts
