// LoopLink: `lo`. What we send to ourselves waits in a queue until the call that sent it is over, so that nothing is
// entered twice. Nobody between could have changed it: its checksums are neither made nor looked at.
#pragma once

#include "base/intrusive_list.h"
#include "os/network/internet/surroundings.h"

namespace ingot::os::network {

class LoopLink final : public Link {
 public:
  explicit LoopLink(Surroundings& around) : around_(around) {}
  ~LoopLink() {
    while (Waiting* const first = waiting_.first()) remove(*first);
  }

  const LinkProperties& properties() const override { return properties_; }
  bool is_up() const override { return true; }
  bool send(const Outgoing& packet) override;
  void flush() override {}

  bool is_empty() const { return count_ == 0; }
  // use(Received&) for the oldest. Precondition: there is one.
  template <class Use>
  void take(Use&& use) {
    Waiting& first = *waiting_.first();
    Received packet(std::move(first.bytes));
    packet.transport_verified = true;
    remove(first);
    use(packet);
  }
  // Whether send() refused since it was last asked.
  bool take_refusal() { return std::exchange(refused_, false); }

 private:
  struct Waiting : ListLink<struct WaitingTag> {
    explicit Waiting(ByteChain&& chain) : bytes(std::move(chain)) {}
    ByteChain bytes;
  };

  Answer<void> copy(const Outgoing& packet, ByteChain& to);
  void remove(Waiting& waiting);

  Surroundings& around_;
  LoopCounters& counters_ = around_.counters.loop;
  LinkProperties properties_{"lo", false, {}, 0xffff, true, false, false};
  IntrusiveList<Waiting, WaitingTag> waiting_;
  std::size_t count_ = 0;
  bool refused_ = false;
};

}  // namespace ingot::os::network
