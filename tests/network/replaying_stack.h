// ReplayingStack: gives a script the answers that it expects, from the script itself. It proves the reader and the
// runner: whatever is changed in an answer must fail.
#pragma once

#include <deque>
#include <functional>

#include "tests/network/stack_under_test.h"

namespace ingot::network_scripts {

// What is changed on its way: of the answers, counted from 0 and in the stack's numbers.
struct ReplayChanges {
  std::function<void(int index, SentPacket& packet)> packet;
  std::function<void(int index, std::int64_t& result)> call;
  std::uint32_t segment = 65'535;  // payloads are cut to this
};

class ReplayingStack : public StackUnderTest {
 public:
  ReplayingStack(const Script& script, const Environment& place, const ReplayChanges& changes);

  std::string configure(const Profile& profile) override;
  Microseconds now() const override { return now_; }
  std::optional<Microseconds> next_timer() const override;
  void advance(Microseconds time) override;
  void receive(std::span<const std::uint8_t> packet) override;
  std::optional<SentPacket> take_sent() override;

  std::int64_t socket(int, int, int) override { return answer(0); }
  std::int64_t bind(int, const Endpoint&) override { return answer(0); }
  std::int64_t listen(int, int) override { return answer(0); }
  std::int64_t accept(int) override { return answer(0); }
  std::int64_t connect(int descriptor, const Endpoint& address) override;
  std::int64_t send(int, const Message&, const Endpoint*) override { return answer(0); }
  std::int64_t receive(int descriptor, Message& message) override;
  std::int64_t shutdown(int, int) override { return answer(0); }
  std::int64_t close(int) override { return answer(0); }
  std::int64_t set_option(int, int, int, std::span<const std::uint8_t>) override { return answer(0); }
  std::int64_t get_option(int descriptor, int level, int name, std::span<std::uint8_t> value) override;
  std::int64_t control(int descriptor, std::uint64_t request, int& number) override;
  std::uint32_t ready(int descriptor) override;
  std::uint64_t times_told(int) override { return 0; }
  std::optional<int> count_in_state(std::string_view state, bool owned) override;
  void drop_in_state(std::string_view) override {}

  // Packets that the script sent it.
  const std::vector<WirePacket>& received() const { return received_; }

 private:
  // The value in the argument of the call that the script makes now, or 0.
  std::int64_t written_value(std::size_t argument) const;
  std::int64_t answer(std::int64_t while_blocked);
  std::int64_t result_of(const CallLine& line);
  void plan();
  void plan_packet(const PacketLine& line, Microseconds time);
  WirePacket to_live(const PacketLine& line);

  const Script& script_;
  ReplayChanges changes_;
  Endpoint local_, remote_;
  std::size_t next_ = 0;  // event
  Microseconds now_ = 0;
  std::deque<SentPacket> planned_, sent_;
  std::deque<int> counts_;
  const CallLine* blocked_ = nullptr;
  Microseconds blocked_until_ = 0;
  std::uint32_t live_first_ = 0, script_first_ = 0, remote_first_ = 0;
  bool is_active_ = false, is_known_ = false;
  int packets_ = 0, calls_ = 0;
  std::vector<WirePacket> received_;
};

}  // namespace ingot::network_scripts
