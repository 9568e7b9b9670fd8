// /proc/net/snmp and sockstat: what was counted. Programs find it by the names of the line above; what is not counted
// is 0, and what is counted for both versions of IP at once stands under the older one's name.
#include "os/network/socket/network_files.h"

namespace ingot::os::network {

namespace {

struct SocketCounts {
  std::uint64_t streams = 0, talking = 0, datagrams = 0;
};

SocketCounts count_sockets(Stack& stack) {
  SocketCounts counts;
  stack.tcp().visit([&](const TcpRow& row) {
    counts.streams += row.state != TcpState::time_wait && row.state != TcpState::syn_received;
    counts.talking += row.state == TcpState::established || row.state == TcpState::close_wait;
  });
  stack.udp().visit([&](UdpSocket&) { ++counts.datagrams; });
  return counts;
}

void add_internet(TextWriter& text, const InternetCounters& counters) {
  const IpCounters& ip = counters.ip;
  const ReassemblyCounters& whole = counters.reassembly;
  const IcmpCounters& icmp = counters.icmp;
  text.add(
      "Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos InDiscards "
      "InDelivers "
      "OutRequests OutDiscards OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates\n"
      "Ip: 2 64 ",
      ip.received, " ", ip.bad_headers, " ", ip.not_ours, " 0 ", ip.unknown_protocols, " 0 ", ip.delivered, " ");
  text.add(ip.sent, " 0 0 ", whole.expired, " ", whole.fragments, " ", whole.whole, " ",
           whole.expired + whole.overlapping + whole.bad + whole.no_room, " 0 0 ", ip.fragments_sent, "\n");
  text.add(
      "Icmp: InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds InParmProbs InSrcQuenchs InRedirects InEchos "
      "InEchoReps InTimestamps InTimestampReps InAddrMasks InAddrMaskReps OutMsgs OutErrors OutDestUnreachs "
      "OutTimeExcds "
      "OutParmProbs OutSrcQuenchs OutRedirects OutEchos OutEchoReps OutTimestamps OutTimestampReps OutAddrMasks "
      "OutAddrMaskReps\nIcmp: ",
      icmp.received, " ", icmp.bad, " 0 ", icmp.refusals, " 0 0 0 0 ", icmp.echoes, " 0 0 0 0 0 ");
  text.add(icmp.errors_sent + icmp.echoes, " ", icmp.rate_limited, " ", icmp.errors_sent, " 0 0 0 0 0 ", icmp.echoes,
           " 0 0 0 0\n");
}

// Timeouts as TcpSettings has them, in milliseconds.
void write_snmp(TextWriter& text, const TextSubject& subject) {
  stack_of(subject).drive([&](Stack& stack) {
    add_internet(text, stack.internet().counters());
    const TcpCounters& tcp = stack.tcp().counters;
    const UdpCounters& udp = stack.udp().counters();
    text.add(
        "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs ",
        "OutSegs RetransSegs InErrs OutRsts InCsumErrors\nTcp: 1 200 120000 -1 ", tcp.active_opens, " ",
        tcp.passive_opens, " ", tcp.failed_attempts, " ", tcp.established_resets, " ");
    text.add(count_sockets(stack).talking, " ", tcp.received, " ", tcp.sent, " ", tcp.retransmitted, " ",
             tcp.received_wrong, " ", tcp.sent_resets, " 0\n");
    text.add("Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti ",
             "MemErrors\nUdp: ", udp.received, " ", udp.unknown_port, " ", udp.malformed, " ", udp.sent, " ",
             udp.no_room, " ", udp.unsent, " 0 0 0\n");
  });
}

void write_sockets(TextWriter& text, const TextSubject& subject) {
  stack_of(subject).drive([&](Stack& stack) {
    const SocketCounts now = count_sockets(stack);
    text.add("sockets: used ", now.streams + now.datagrams, "\nTCP: inuse ", now.streams, " orphan ",
             stack.tcp().orphans, " tw ", stack.tcp().time_wait_count(), " alloc ", now.streams, " mem 0\nUDP: inuse ");
    text.add(now.datagrams, " mem 0\nUDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse ",
             stack.internet().reassembly().count(), " memory 0\n");
  });
}

constexpr TextFileRow counter_rows[] = {{"snmp", write_snmp}, {"sockstat", write_sockets}};

}  // namespace

std::span<const TextFileRow> counter_tables() { return counter_rows; }

}  // namespace ingot::os::network
