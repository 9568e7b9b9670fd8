// IngotStack: the kernel's network stack and its sockets as scripts drive them.
#pragma once

#include <map>

#include "os/file/socket/socket_file.h"
#include "os/network/socket/shared_stack.h"
#include "os/network/socket/sockets_for_tests.h"
#include "tests/network/ingot_machine.h"

namespace ingot::network_scripts {

class IngotStack final : public StackUnderTest {
 public:
  explicit IngotStack(const Environment& place);

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

  // Whom a socket was connected to, even where that has ended.
  std::optional<Endpoint> remote_of(int descriptor) const;
  IngotMachine& machine() { return machine_; }
  os::network::SharedStack& shared() { return stack_; }
  // Another of the host's threads calls from now on; never two at once.
  void change_thread() { processor_.become_current(); }

 private:
  struct Socket final : os::PollWaiter {
    explicit Socket(os::Reference<os::SocketFile> opened) : file(std::move(opened)) {
      file->poll_source()->join(*this);
    }
    ~Socket() { file->poll_source()->leave(*this); }
    void notified(std::uint32_t) override { ++told; }

    os::Reference<os::SocketFile> file;
    std::optional<Endpoint> remote;  // of its connection, which may have ended
    std::uint64_t told = 0;
  };

  int add(os::Reference<os::SocketFile> file);
  // call(Socket&) of the descriptor, or EBADF; then the gateway answers what was asked of it.
  template <class Call>
  std::int64_t with(int descriptor, Call&& call);
  void settle();
  static Endpoint own_name(const Socket& socket);
  // What FreeBSD has and Linux does not is a setting here: a script has one connection.
  std::optional<std::int64_t> freebsd_option(int level, int name) const;
  bool set_freebsd_option(int level, int name, std::int32_t number);

  os::network::OneProcessor processor_;
  os::network::StillTime time_;
  IngotMachine machine_;
  IngotLink link_;
  os::FileServices services_{&machine_.heap(), nullptr, os::PhysicalWindow(nullptr, os::PhysicalAddress(0), 0), &time_,
                             nullptr};
  bool is_freebsd_ = false;
  os::network::SharedStack stack_{machine_, nullptr, "scripts"};
  std::map<int, std::unique_ptr<Socket>> sockets_;
  int next_descriptor_ = 3;
};

template <class Call>
std::int64_t IngotStack::with(int descriptor, Call&& call) {
  const auto found = sockets_.find(descriptor);
  if (found == sockets_.end()) return -static_cast<std::int64_t>(os::Errno::ebadf);
  const auto answer = call(*found->second);
  settle();
  if (!answer.ok()) return -static_cast<std::int64_t>(answer.error());
  if constexpr (requires { std::int64_t(answer.value()); }) {
    return static_cast<std::int64_t>(answer.value());
  } else {
    return 0;
  }
}

}  // namespace ingot::network_scripts
