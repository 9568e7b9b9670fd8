#include "tests/network/symbols.h"

#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {
namespace {

#define INGOT_SYMBOL(name) std::pair<std::string_view, std::int64_t>(#name, name)
constexpr std::array symbols = {
    INGOT_SYMBOL(AF_INET),
    INGOT_SYMBOL(AF_INET6),
    INGOT_SYMBOL(PF_INET),
    INGOT_SYMBOL(PF_INET6),
    INGOT_SYMBOL(SOCK_STREAM),
    INGOT_SYMBOL(SOCK_DGRAM),
    INGOT_SYMBOL(SOCK_NONBLOCK),
    INGOT_SYMBOL(SOCK_CLOEXEC),
    INGOT_SYMBOL(IPPROTO_IP),
    INGOT_SYMBOL(IPPROTO_IPV6),
    INGOT_SYMBOL(IPPROTO_TCP),
    INGOT_SYMBOL(IPPROTO_UDP),
    INGOT_SYMBOL(SOL_SOCKET),
    INGOT_SYMBOL(SOL_IP),
    INGOT_SYMBOL(SOL_IPV6),
    INGOT_SYMBOL(SO_REUSEADDR),
    INGOT_SYMBOL(SO_REUSEPORT),
    INGOT_SYMBOL(SO_KEEPALIVE),
    INGOT_SYMBOL(SO_LINGER),
    INGOT_SYMBOL(SO_ERROR),
    INGOT_SYMBOL(SO_RCVBUF),
    INGOT_SYMBOL(SO_SNDBUF),
    INGOT_SYMBOL(SO_RCVLOWAT),
    INGOT_SYMBOL(SO_RCVTIMEO),
    INGOT_SYMBOL(SO_SNDTIMEO),
    INGOT_SYMBOL(SO_ZEROCOPY),
    INGOT_SYMBOL(SO_TIMESTAMPING),
    INGOT_SYMBOL(SO_OOBINLINE),
    INGOT_SYMBOL(SO_PRIORITY),
    INGOT_SYMBOL(SO_MAX_PACING_RATE),
    INGOT_SYMBOL(IP_TOS),
    INGOT_SYMBOL(IP_TTL),
    INGOT_SYMBOL(IP_MTU_DISCOVER),
    INGOT_SYMBOL(IP_PMTUDISC_DONT),
    INGOT_SYMBOL(IP_PMTUDISC_WANT),
    INGOT_SYMBOL(IP_PMTUDISC_DO),
    INGOT_SYMBOL(IP_RECVERR),
    INGOT_SYMBOL(IPV6_V6ONLY),
    INGOT_SYMBOL(IPV6_TCLASS),
    INGOT_SYMBOL(IPV6_UNICAST_HOPS),
    INGOT_SYMBOL(TCP_NODELAY),
    INGOT_SYMBOL(TCP_MAXSEG),
    INGOT_SYMBOL(TCP_CORK),
    INGOT_SYMBOL(TCP_KEEPIDLE),
    INGOT_SYMBOL(TCP_KEEPINTVL),
    INGOT_SYMBOL(TCP_KEEPCNT),
    INGOT_SYMBOL(TCP_SYNCNT),
    INGOT_SYMBOL(TCP_LINGER2),
    INGOT_SYMBOL(TCP_DEFER_ACCEPT),
    INGOT_SYMBOL(TCP_WINDOW_CLAMP),
    INGOT_SYMBOL(TCP_INFO),
    INGOT_SYMBOL(TCP_QUICKACK),
    INGOT_SYMBOL(TCP_CONGESTION),
    INGOT_SYMBOL(TCP_USER_TIMEOUT),
    INGOT_SYMBOL(TCP_NOTSENT_LOWAT),
    INGOT_SYMBOL(TCP_INQ),
    INGOT_SYMBOL(TCP_CM_INQ),
    INGOT_SYMBOL(MSG_PEEK),
    INGOT_SYMBOL(MSG_DONTWAIT),
    INGOT_SYMBOL(MSG_MORE),
    INGOT_SYMBOL(MSG_EOR),
    INGOT_SYMBOL(MSG_NOSIGNAL),
    INGOT_SYMBOL(MSG_OOB),
    INGOT_SYMBOL(MSG_WAITALL),
    INGOT_SYMBOL(MSG_TRUNC),
    INGOT_SYMBOL(MSG_ERRQUEUE),
    INGOT_SYMBOL(MSG_ZEROCOPY),
    INGOT_SYMBOL(SHUT_RD),
    INGOT_SYMBOL(SHUT_WR),
    INGOT_SYMBOL(SHUT_RDWR),
    INGOT_SYMBOL(F_GETFL),
    INGOT_SYMBOL(F_SETFL),
    INGOT_SYMBOL(O_RDONLY),
    INGOT_SYMBOL(O_RDWR),
    INGOT_SYMBOL(O_NONBLOCK),
    INGOT_SYMBOL(FIONREAD),
    INGOT_SYMBOL(SIOCINQ),
    INGOT_SYMBOL(SIOCOUTQ),
    INGOT_SYMBOL(SIOCOUTQNSD),
    INGOT_SYMBOL(POLLIN),
    INGOT_SYMBOL(POLLOUT),
    INGOT_SYMBOL(POLLERR),
    INGOT_SYMBOL(POLLHUP),
    INGOT_SYMBOL(POLLRDHUP),
    INGOT_SYMBOL(POLLNVAL),
    INGOT_SYMBOL(POLLPRI),
    INGOT_SYMBOL(EPOLLIN),
    INGOT_SYMBOL(EPOLLOUT),
    INGOT_SYMBOL(EPOLLERR),
    INGOT_SYMBOL(EPOLLHUP),
    INGOT_SYMBOL(EPOLLRDHUP),
    INGOT_SYMBOL(EPOLLET),
    INGOT_SYMBOL(EPOLLONESHOT),
    INGOT_SYMBOL(EPOLLEXCLUSIVE),
    INGOT_SYMBOL(EPOLL_CTL_ADD),
    INGOT_SYMBOL(EPOLL_CTL_MOD),
    INGOT_SYMBOL(EPOLL_CTL_DEL),
    INGOT_SYMBOL(SO_EE_ORIGIN_ZEROCOPY),
    INGOT_SYMBOL(SO_EE_CODE_ZEROCOPY_COPIED),
    INGOT_SYMBOL(SO_EE_ORIGIN_TIMESTAMPING),
    INGOT_SYMBOL(SCM_TSTAMP_SND),
    INGOT_SYMBOL(SCM_TSTAMP_SCHED),
    INGOT_SYMBOL(SCM_TSTAMP_ACK),
    INGOT_SYMBOL(SCM_TIMESTAMPING),
    INGOT_SYMBOL(SOF_TIMESTAMPING_TX_SCHED),
    INGOT_SYMBOL(SOF_TIMESTAMPING_TX_SOFTWARE),
    INGOT_SYMBOL(SOF_TIMESTAMPING_TX_ACK),
    INGOT_SYMBOL(SOF_TIMESTAMPING_SOFTWARE),
    INGOT_SYMBOL(SOF_TIMESTAMPING_OPT_ID),
    INGOT_SYMBOL(TCPI_OPT_TIMESTAMPS),
    INGOT_SYMBOL(TCPI_OPT_SACK),
    INGOT_SYMBOL(TCPI_OPT_WSCALE),
    INGOT_SYMBOL(TCPI_OPT_ECN),
    INGOT_SYMBOL(TCP_CA_Open),
    INGOT_SYMBOL(TCP_CA_Disorder),
    INGOT_SYMBOL(TCP_CA_CWR),
    INGOT_SYMBOL(TCP_CA_Recovery),
    INGOT_SYMBOL(TCP_CA_Loss),
    std::pair<std::string_view, std::int64_t>("SOL_TCP", IPPROTO_TCP),  // glibc's is in a header that clashes
    // packetdrill's own words for what depends on the version of IP, and states of tcp_info.
    std::pair<std::string_view, std::int64_t>("CMSG_LEVEL_IP", SOL_IP),
    std::pair<std::string_view, std::int64_t>("CMSG_TYPE_RECVERR", IP_RECVERR),
    std::pair<std::string_view, std::int64_t>("TCPI_ESTABLISHED", 1),
    std::pair<std::string_view, std::int64_t>("NULL", 0),
    std::pair<std::string_view, std::int64_t>("TCP_KEEPINIT", freebsd_connect_timeout),
    std::pair<std::string_view, std::int64_t>("TCP_NOOPT", freebsd_no_options),
};
#undef INGOT_SYMBOL

constexpr std::string_view class_selector = "IPTOS_DSCP_CS";
constexpr int highest_error = 133;

struct NamedField {
  std::string_view name;
  InformationField field;
};
#define INGOT_FIELD(name)                                       \
  NamedField {                                                  \
    #name, { offsetof(tcp_info, name), sizeof(tcp_info::name) } \
  }
constexpr std::array information_fields = {
    INGOT_FIELD(tcpi_state),
    INGOT_FIELD(tcpi_ca_state),
    INGOT_FIELD(tcpi_retransmits),
    INGOT_FIELD(tcpi_probes),
    INGOT_FIELD(tcpi_backoff),
    INGOT_FIELD(tcpi_options),
    INGOT_FIELD(tcpi_rto),
    INGOT_FIELD(tcpi_ato),
    INGOT_FIELD(tcpi_snd_mss),
    INGOT_FIELD(tcpi_rcv_mss),
    INGOT_FIELD(tcpi_unacked),
    INGOT_FIELD(tcpi_sacked),
    INGOT_FIELD(tcpi_lost),
    INGOT_FIELD(tcpi_retrans),
    INGOT_FIELD(tcpi_pmtu),
    INGOT_FIELD(tcpi_rcv_ssthresh),
    INGOT_FIELD(tcpi_rtt),
    INGOT_FIELD(tcpi_rttvar),
    INGOT_FIELD(tcpi_snd_ssthresh),
    INGOT_FIELD(tcpi_snd_cwnd),
    INGOT_FIELD(tcpi_advmss),
    INGOT_FIELD(tcpi_reordering),
    INGOT_FIELD(tcpi_rcv_rtt),
    INGOT_FIELD(tcpi_rcv_space),
    INGOT_FIELD(tcpi_total_retrans),
    INGOT_FIELD(tcpi_bytes_acked),
    INGOT_FIELD(tcpi_bytes_received),
    INGOT_FIELD(tcpi_segs_out),
    INGOT_FIELD(tcpi_segs_in),
    INGOT_FIELD(tcpi_notsent_bytes),
    INGOT_FIELD(tcpi_min_rtt),
    INGOT_FIELD(tcpi_busy_time),
    INGOT_FIELD(tcpi_rwnd_limited),
    INGOT_FIELD(tcpi_sndbuf_limited),
    INGOT_FIELD(tcpi_delivered),
    INGOT_FIELD(tcpi_bytes_sent),
    INGOT_FIELD(tcpi_bytes_retrans),
};
#undef INGOT_FIELD

}  // namespace

std::optional<std::int64_t> symbol(std::string_view name) {
  for (const auto& [known, value] : symbols) {
    if (known == name) return value;
  }
  if (name.starts_with(class_selector) && name.size() == class_selector.size() + 1 && name.back() >= '0' &&
      name.back() <= '7') {
    return (name.back() - '0') << 5;
  }
  if (name == "EWOULDBLOCK") return EAGAIN;
  for (int error = 1; error <= highest_error && name.starts_with('E'); ++error) {
    if (name == name_of_error(error)) return error;
  }
  return std::nullopt;
}

std::string name_of_error(std::int64_t error) {
  const char* name = strerrorname_np(static_cast<int>(error));
  return name == nullptr ? "error " + std::to_string(error) : name;
}

std::optional<InformationField> information_field(std::string_view name) {
  for (const NamedField& known : information_fields) {
    if (known.name == name) return known.field;
  }
  return std::nullopt;
}

}  // namespace ingot::network_scripts
