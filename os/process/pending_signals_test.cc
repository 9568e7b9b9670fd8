#include "os/process/pending_signals.h"

#include <gtest/gtest.h>

#include <memory>

#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

constexpr auto queued_one = static_cast<Signal>(40), queued_two = static_cast<Signal>(41);

class Pending : public ::testing::Test {
 protected:
  void send(Signal signal, std::uint64_t value) {
    void* block = heap.allocate(sizeof(QueuedSignal), alignof(QueuedSignal)).value();
    pending.add(*std::construct_at(static_cast<QueuedSignal*>(block),
                                   SignalInformation::of(signal, signal_code::by_kill, value), &heap));
  }
  std::uint64_t take(Signal signal) {
    SignalInformation information;
    pending.take(signal, information);
    EXPECT_EQ(information.signal(), signal);
    return information.fields[0];
  }

  TestHeap heap;
  PendingSignals pending;
};

TEST_F(Pending, StandardSignalsComeOnceAndQueuedOnesEachInOrder) {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    send(Signal::interrupt, i);
    send(queued_two, 10 + i);
    send(queued_one, 20 + i);
  }
  EXPECT_EQ(pending.set(), SignalSet::of(Signal::interrupt, queued_one, queued_two));
  EXPECT_EQ(pending.set().lowest(), Signal::interrupt);
  EXPECT_EQ(take(Signal::interrupt), 1u);
  EXPECT_FALSE(pending.set().has(Signal::interrupt));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(pending.set().has(queued_one));
    EXPECT_EQ(take(queued_one), 20 + i);
  }
  EXPECT_EQ(pending.set(), SignalSet::of(queued_two));
  pending.forget(SignalSet::of(queued_two));
  EXPECT_TRUE(pending.set().is_empty());
}

TEST_F(Pending, ASignalWithoutMemoryComesBare) {
  pending.add_bare(Signal::quit);
  EXPECT_EQ(take(Signal::quit), 0u);
  EXPECT_TRUE(pending.set().is_empty());
}

TEST_F(Pending, ASendersOwnComesBackAndCanBeWithdrawn) {
  QueuedSignal own(SignalInformation::of(queued_one, signal_code::by_timer, 7), nullptr);
  own.timer = 3;
  pending.add(own);
  SignalInformation information;
  EXPECT_EQ(pending.take(queued_one, information), 3u);
  EXPECT_FALSE(own.is_linked());
  EXPECT_FALSE(pending.remove(own));
  pending.add(own);
  send(queued_one, 8);
  EXPECT_TRUE(pending.remove(own));
  EXPECT_TRUE(pending.set().has(queued_one));  // the other one
  EXPECT_EQ(take(queued_one), 8u);
  // A standard signal that waits already keeps its sender's own out.
  send(Signal::interrupt, 1);
  own.information = SignalInformation::of(Signal::interrupt, signal_code::by_kernel);
  pending.add(own);
  EXPECT_FALSE(own.is_linked());
}

TEST_F(Pending, AlternateStacksAreSeenFromWhereTheProgramStands) {
  AlternateStack stack;
  EXPECT_EQ(stack.seen_from(100).flags, AlternateStack::disabled);
  stack = {0x1000, 0, 0, 0x800};
  EXPECT_EQ(stack.seen_from(0x1000).flags, 0u);
  EXPECT_EQ(stack.seen_from(0x1800).flags, AlternateStack::in_use);
  EXPECT_EQ(stack.seen_from(0x1801).flags, 0u);
}

}  // namespace
}  // namespace ingot::os
