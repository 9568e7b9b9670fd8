// IngotStack: the kernel's network stack as scripts drive it, with sockets that do what Linux's do.
#pragma once

#include <map>

#include "os/network/stack.h"
#include "os/network/tcp/tcp.h"
#include "tests/network/ingot_machine.h"

namespace ingot::network_scripts {

class IngotStack final : public StackUnderTest {
 public:
  explicit IngotStack(const Environment& place);
  ~IngotStack() override;

  std::string configure(const Profile& profile) override;
  Microseconds now() const override { return machine_.time.count() / 1000; }
  std::optional<Microseconds> next_timer() const override;
  void advance(Microseconds time) override;
  void receive(std::span<const std::uint8_t> packet) override;
  std::optional<SentPacket> take_sent() override;

  std::int64_t socket(int family, int type, int protocol) override;
  std::int64_t bind(int descriptor, const Endpoint& address) override;
  std::int64_t listen(int descriptor, int backlog) override;
  std::int64_t accept(int descriptor) override;
  std::int64_t connect(int descriptor, const Endpoint& address) override;
  std::int64_t send(int descriptor, const Message& message, const Endpoint* to) override;
  std::int64_t receive(int descriptor, Message& message) override;
  std::int64_t shutdown(int descriptor, int how) override;
  std::int64_t close(int descriptor) override;
  std::int64_t set_option(int descriptor, int level, int name, std::span<const std::uint8_t> value) override;
  std::int64_t get_option(int descriptor, int level, int name, std::span<std::uint8_t> value) override;
  std::int64_t control(int descriptor, std::uint64_t request, int& number) override;
  std::uint32_t ready(int descriptor) override;
  std::uint64_t times_told(int descriptor) override;
  std::optional<int> count_in_state(std::string_view state, bool owned) override;
  // Only TIME-WAITs are ever dropped, by scripts that clean up: this stack goes with its script.
  void drop_in_state(std::string_view) override {}

 private:
  // One of three: not connected, a listener, a connection, which may have ended.
  struct Socket final : os::network::SocketEvents {
    explicit Socket(os::network::IpVersion version) : binding(version) {}
    void changed(std::uint32_t) override { ++told; }

    os::network::Binding binding;
    os::network::TcpOptions options;
    os::Owned<os::network::TcpListener> listener;
    os::Reference<os::network::TcpConnection> connection;
    std::uint64_t told = 0;
  };

  Socket* find(int descriptor);
  int add(std::unique_ptr<Socket> socket);
  // After every call into the stack: what it made possible is sent, and the gateway's answers are received.
  void settle();
  void end(Socket& socket);
  std::int64_t information(const Socket& socket, std::span<std::uint8_t> value);
  std::optional<std::int64_t> number_of(const Socket& socket, int level, int name);
  bool set_number(Socket& socket, int level, int name, std::int64_t number);
  const os::network::TcpOptions& options_of(const Socket& socket) const;

  IngotMachine machine_;
  IngotLink link_;
  os::network::TcpSettings settings_;
  bool is_freebsd_ = false;
  os::network::Stack stack_{machine_, settings_, nullptr, "scripts"};
  os::network::Tcp& tcp_ = stack_.tcp();
  std::map<int, std::unique_ptr<Socket>> sockets_;
  int next_descriptor_ = 3;
};

}  // namespace ingot::network_scripts
