// /proc/net/tcp, tcp6, udp and udp6. Behind a row's place, which Linux leaves out where it is unknown, nothing is told.
#include "os/network/socket/network_columns.h"
#include "os/network/socket/network_files.h"

namespace ingot::os::network {

namespace {

// How a table is laid out.
struct TableLayout {
  std::string_view heading;
  std::size_t index_width, line_width;  // 0: lines end where they end
  std::string_view tail;                // behind the user's number: timeout, inode, references, place, ...
};

constexpr TableLayout tcp_layout{
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode", 4, 149,
    "       0 0 1 0000000000000000"};
constexpr TableLayout tcp6_layout{
    "  sl  local_address                         remote_address                        st tx_queue rx_queue tr "
    "tm->when "
    "retrnsmt   uid  timeout inode",
    4, 0, tcp_layout.tail};
constexpr TableLayout udp_layout{
    "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer "
    "drops",
    5, 127, "       0 0 2 0000000000000000 0"};
constexpr TableLayout udp6_layout{
    "  sl  local_address                         remote_address                        st tx_queue rx_queue tr "
    "tm->when "
    "retrnsmt   uid  timeout inode ref pointer drops",
    5, 0, udp_layout.tail};

// Writes the rows of one version. Who is bound to both stands among those of IPv6, as on Linux.
class SocketTable {
 public:
  SocketTable(TextWriter& text, const TableLayout& layout, IpVersion version)
      : text_(text), layout_(layout), version_(version) {
    add_left(text_, layout_.line_width, [&] { text_.add(layout_.heading); });
    text_.add('\n');
  }

  void add(const TcpRow& row) {
    if (row.flow.local.address.version() != version_) return;
    add_left(text_, layout_.line_width, [&] {
      add_right(text_, layout_.index_width, index_++);
      text_.add(": ");
      add_endpoint(row.flow.local);
      add_endpoint(row.flow.remote);
      add_capitals(text_, static_cast<std::uint64_t>(row.state), 2);
      text_.add(' ');
      add_capitals(text_, row.to_send, 8);
      text_.add(':');
      add_capitals(text_, row.to_read, 8);
      text_.add(" 00:00000000 00000000     0 ", layout_.tail);
    });
    text_.add('\n');
  }

 private:
  void add_endpoint(const Endpoint& endpoint) {
    add_address(text_, endpoint.address, version_);
    text_.add(':');
    add_capitals(text_, endpoint.port, 4);
    text_.add(' ');
  }

  TextWriter& text_;
  const TableLayout& layout_;
  const IpVersion version_;
  std::uint64_t index_ = 0;
};

template <IpVersion version>
void write_tcp(TextWriter& text, const TextSubject& subject) {
  SocketTable table(text, version == IpVersion::v4 ? tcp_layout : tcp6_layout, version);
  stack_of(subject).drive([&](Stack& stack) { stack.tcp().visit([&](const TcpRow& row) { table.add(row); }); });
}

// Their states are TCP's: connected, or not.
template <IpVersion version>
void write_udp(TextWriter& text, const TextSubject& subject) {
  SocketTable table(text, version == IpVersion::v4 ? udp_layout : udp6_layout, version);
  stack_of(subject).drive([&](Stack& stack) {
    stack.udp().visit([&](UdpSocket& socket) {
      const TcpState state = socket.is_connected() ? TcpState::established : TcpState::closed;
      table.add({{socket.local(), socket.remote()}, state, 0, socket.waiting_cost()});
    });
  });
}

constexpr TextFileRow socket_rows[] = {
    {"tcp", write_tcp<IpVersion::v4>},
    {"tcp6", write_tcp<IpVersion::v6>},
    {"udp", write_udp<IpVersion::v4>},
    {"udp6", write_udp<IpVersion::v6>},
};

}  // namespace

std::span<const TextFileRow> socket_tables() { return socket_rows; }

}  // namespace ingot::os::network
