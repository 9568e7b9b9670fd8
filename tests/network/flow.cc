#include "tests/network/flow.h"

namespace ingot::network_scripts {
namespace {

const TcpOption* timestamps_of(const std::vector<TcpOption>& options) {
  for (const TcpOption& option : options) {
    if (option.kind == TcpOption::timestamps && option.numbers.size() == 2) return &option;
  }
  return nullptr;
}

void shift_blocks(std::vector<TcpOption>& options, std::uint32_t offset) {
  for (TcpOption& option : options) {
    if (option.kind != TcpOption::sack) continue;
    for (std::uint32_t& edge : option.numbers) edge += offset;
  }
}

}  // namespace

Flow Flow::answering(const Endpoint& local, const Endpoint& remote, std::uint32_t first_sequence) {
  Flow flow(Stage::syn_received, local, remote);
  flow.remote_first_ = first_sequence;
  return flow;
}

Result<WirePacket> Flow::to_live(const PacketLine& line) {
  const bool is_syn = (line.flags & TcpFlag::syn) != 0;
  const bool acknowledges = (line.flags & TcpFlag::acknowledge) != 0;
  if (stage_ == Stage::syn_sent && is_syn && acknowledges) {
    stage_ = Stage::answered;
    remote_first_ = line.sequence;
  }
  WirePacket live;
  live.protocol = line.protocol;
  live.from = remote_;
  live.to = local_;
  if (line.ports) {
    live.from.port = line.ports->from;
    live.to.port = line.ports->to;
  }
  live.service = line.service.value;
  live.hop_limit = line.hop_limit.value_or(255);
  live.flags = line.flags;
  live.sequence = line.sequence + (line.absolute_sequence ? 0 : remote_offset(is_syn));
  live.acknowledged = acknowledges ? line.acknowledged + local_offset(is_syn) : 0;
  live.window = line.window.value_or(0);
  live.urgent = line.urgent;
  live.payload.resize(line.payload);
  live.options = line.options;
  shift_blocks(live.options, local_offset(is_syn));
  for (TcpOption& option : live.options) {
    if (&option == timestamps_of(live.options) && acknowledges && !option.absolute_echo) {
      const auto found = live_timestamps_.find(option.numbers[1]);
      if (found == live_timestamps_.end()) {
        return Error::of(ErrorCode::corrupt, "the timestamp ", option.numbers[1], " that it echoes was never sent");
      }
      option.numbers[1] = found->second;
    }
  }
  return live;
}

WirePacket Flow::echoed(const PacketLine& line) const {
  WirePacket packet;
  packet.protocol = has_datagrams() ? ScriptProtocol::udp : ScriptProtocol::tcp;
  packet.from = local_;
  packet.to = remote_;
  packet.hop_limit = 64;
  packet.sequence = line.sequence + local_offset(false);
  packet.payload.resize(line.payload);
  return packet;
}

bool Flow::owns(const WirePacket& live) {
  if (has_datagrams()) {
    if (live.protocol != ScriptProtocol::udp || live.to != remote_) return false;
    local_ = live.from;
    return true;
  }
  if (live.protocol != ScriptProtocol::tcp || live.to != remote_) return false;
  const bool is_first = stage_ == Stage::connecting && live.has(TcpFlag::syn) && !live.has(TcpFlag::acknowledge);
  if (is_first) {
    stage_ = Stage::syn_sent;
    local_ = live.from;
    live_first_ = live.sequence;
  }
  return live.from == local_;
}

WirePacket Flow::to_script(const WirePacket& live, const PacketLine& expected) {
  const bool is_syn = live.has(TcpFlag::syn);
  if (is_syn && (expected.flags & TcpFlag::syn) != 0) {
    // The script's own first number, where it does not count from 0.
    if (stage_ == Stage::syn_received && live.has(TcpFlag::acknowledge)) {
      stage_ = Stage::answered;
      live_first_ = live.sequence;
      script_first_ = expected.sequence;
    } else if (stage_ == Stage::syn_sent && !live.has(TcpFlag::acknowledge)) {
      script_first_ = expected.sequence;
    }
  }
  WirePacket packet = live;
  if (!expected.absolute_sequence) packet.sequence -= local_offset(is_syn);
  if (packet.has(TcpFlag::acknowledge)) packet.acknowledged -= remote_offset(is_syn);
  shift_blocks(packet.options, 0 - remote_offset(is_syn));
  return packet;
}

void Flow::learn_timestamp(const WirePacket& live, const PacketLine& expected) {
  const TcpOption* seen = timestamps_of(live.options);
  const TcpOption* written = timestamps_of(expected.options);
  if (seen == nullptr || written == nullptr || written->any_value) return;
  live_timestamps_[written->numbers[0]] = seen->numbers[0];
}

}  // namespace ingot::network_scripts
