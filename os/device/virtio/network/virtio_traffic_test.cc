// Packets that come and frames that go.
#include "os/device/virtio/network/virtio_network.h"

#include <gtest/gtest.h>

#include "os/device/virtio/network/virtio_network_fixture.h"

namespace ingot::os {
namespace {

using namespace virtio_network;

TEST_F(VirtioCard, PacketsAreHandedOverTogether) {
  ASSERT_TRUE(start().ok());
  EXPECT_EQ(device.doorbells[0].writes, 1);
  arrive("first");
  arrive("second");
  device.interrupt(0);
  EXPECT_TRUE(pair().interrupted.load(MemoryOrder::relaxed));
  EXPECT_FALSE(card->work(pair()));  // and nothing is left
  EXPECT_EQ(user.texts, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(user.calls, 1);
  EXPECT_FALSE(user.verified[0]);
  // Every buffer was replaced: the device has as many as at the start.
  for (int i = 0; i < 300; ++i) {
    arrive(std::to_string(i));
    card->work(pair());
    ASSERT_EQ(user.texts.back(), std::to_string(i));
  }
  end();
}

TEST_F(VirtioCard, MergedBuffersBecomeOnePacket) {
  device.state.offered |= guest_checksum | guest_segments_v4;
  ASSERT_TRUE(start().ok());
  const VirtioNetworkHeader header{.flags = VirtioNetworkHeader::needs_checksum,
                                   .segmentation = VirtioNetworkHeader::tcp_v4,
                                   .segment_bytes = 1448,
                                   .buffers = 3};
  put(&header, "one ");
  put(nullptr, "two ");
  put(nullptr, "three");
  receiving().show();
  card->work(pair());
  EXPECT_EQ(user.texts, std::vector<std::string>{"one two three"});
  EXPECT_TRUE(user.verified[0]);
  EXPECT_EQ(user.segments[0], 1448);
  end();
}

TEST_F(VirtioCard, WhatWasNotAgreedOnIsNotBelieved) {
  ASSERT_TRUE(start().ok());
  const VirtioNetworkHeader header{.flags = 3, .segmentation = 1, .segment_bytes = 1448, .buffers = 1};
  put(&header, "text");
  receiving().show();
  card->work(pair());
  EXPECT_FALSE(user.verified[0]);
  EXPECT_EQ(user.segments[0], 0);
  end();
}

TEST_F(VirtioCard, PacketsThatMakeNoSenseAreDropped) {
  ASSERT_TRUE(start().ok());
  VirtioNetworkHeader header{.buffers = 2};  // the second is not there
  put(&header, "x");
  receiving().show();
  card->work(pair());
  header.buffers = 0;
  put(&header, "x");
  header.buffers = 1;
  put(&header, "x", 11);  // shorter than its header
  put(&header, "");       // nothing behind it
  header.buffers = 65;
  put(&header, "x");
  for (int i = 1; i < 65; ++i) put(nullptr, "y");
  receiving().show();
  while (card->work(pair())) {
  }
  EXPECT_TRUE(user.texts.empty());
  EXPECT_EQ(pair().receiver.dropped(), 5u);
  arrive("sense");
  card->work(pair());
  EXPECT_EQ(user.texts, std::vector<std::string>{"sense"});
  EXPECT_EQ(card->faults(), 0u);
  end();
}

TEST_F(VirtioCard, WithoutMemoryPacketsAreDroppedAndTheDeviceKeepsItsBuffers) {
  ASSERT_TRUE(start().ok());
  for (int left = 0; left < 2; ++left) {  // none for the next buffer, none for the packet's chain
    arrive("lost");
    heap.left = left;
    card->work(pair());
    heap.left = 1'000'000;
    EXPECT_TRUE(user.texts.empty()) << left;
  }
  EXPECT_EQ(pair().receiver.dropped(), 2u);
  for (int i = 0; i < 300; ++i) {
    arrive("kept");
    card->work(pair());
  }
  EXPECT_EQ(user.texts.size(), 300u);
  end();
}

TEST_F(VirtioCard, FramesAreSentFromWhereTheyLie) {
  ASSERT_TRUE(start().ok());
  {
    network::ByteChain chain = payload(2, 100);
    network::Outgoing packet = outgoing(&chain);
    packet.payload_begin = 50;
    packet.payload_bytes = 100;
    EXPECT_TRUE(card->send(packet));
    EXPECT_EQ(sending().next_chain(), std::nullopt);
    card->flush();
    EXPECT_EQ(device.doorbells[1].writes, 1);
    chain.clear();  // the card holds on to the blocks
  }
  const std::uint16_t head = sending().next_chain().value();
  EXPECT_EQ(sending().chain(head).size(), 3u);
  EXPECT_EQ(sent(head), std::string(12, '\0') + std::string(14, 'H') + std::string(50, 'a') + std::string(50, 'b'));
  const auto held = heap.statistics().live_blocks;
  EXPECT_FALSE(sending().use(head, 0));  // no interrupt: nobody waits
  EXPECT_FALSE(card->work(pair()));
  EXPECT_EQ(heap.statistics().live_blocks, held - 4);  // two blocks and their bytes
  end();
}

TEST_F(VirtioCard, ChecksumsAndSegmentsAreLeftToTheDevice) {
  device.state.offered |= checksum | host_segments_v4 | host_segments_v6;
  ASSERT_TRUE(start().ok());
  for (const bool is_v6 : {false, true}) {
    const std::size_t headers = is_v6 ? 74 : 54;
    const network::ByteChain chain = payload(1, 3000);
    network::Outgoing packet = outgoing(&chain, headers);
    packet.header()[12] = std::byte{static_cast<unsigned char>(is_v6 ? 0x86 : 0x08)};
    packet.header()[13] = std::byte{static_cast<unsigned char>(is_v6 ? 0xdd : 0x00)};
    packet.checksum_from_end = 20;
    packet.checksum_field = 16;
    packet.segment_bytes = 1448;
    EXPECT_TRUE(card->send(packet));
    card->flush();
    VirtioNetworkHeader header;
    std::memcpy(&header, sent(sending().next_chain().value()).data(), sizeof header);
    EXPECT_EQ(header.flags, VirtioNetworkHeader::needs_checksum);
    EXPECT_EQ(header.checksum_begin, headers - 20);
    EXPECT_EQ(header.checksum_offset, 16);
    EXPECT_EQ(header.segmentation, is_v6 ? VirtioNetworkHeader::tcp_v6 : VirtioNetworkHeader::tcp_v4);
    EXPECT_EQ(header.segment_bytes, 1448);
    EXPECT_EQ(header.header_bytes, headers);
    sending().use(is_v6 ? 2 : 0, 0);
  }
  card->work(pair());
  end();
}

TEST_F(VirtioCard, TooManyPartsAreCopiedTogether) {
  ASSERT_TRUE(start().ok());
  {
    const network::ByteChain fits = payload(18, 10);
    EXPECT_TRUE(card->send(outgoing(&fits)));
    const network::ByteChain many = payload(19, 10);
    EXPECT_TRUE(card->send(outgoing(&many)));
    heap.left = 0;
    EXPECT_TRUE(card->send(outgoing(&many)));  // lost, which is no reason to wait
    heap.left = 1'000'000;
    card->flush();
    EXPECT_EQ(sending().chain(sending().next_chain().value()).size(), 19u);
    const std::uint16_t head = sending().next_chain().value();
    EXPECT_EQ(sending().chain(head).size(), 2u);
    EXPECT_EQ(sent(head).substr(26), std::string("aaaaaaaaaa") + sent(head).substr(36));
    EXPECT_EQ(sent(head).size(), 26u + 190u);
    EXPECT_EQ(sending().next_chain(), std::nullopt);
  }
  EXPECT_EQ(pair().sender.with([](VirtioSender& sender) { return sender.dropped(); }), 1u);
  end();
}

TEST_F(VirtioCard, AFullRingRefusesAndTellsOfRoom) {
  ASSERT_TRUE(start().ok());
  const network::Outgoing packet = outgoing(nullptr);
  int count = 0;
  while (card->send(packet)) ++count;
  EXPECT_EQ(count, VirtioSender::most_frames);
  EXPECT_GE(device.doorbells[1].writes, 1);  // without a flush: else nothing would ever move
  EXPECT_FALSE(card->send(packet));
  EXPECT_FALSE(card->work(pair()));
  const int changes = user.changes;
  int used = 0;
  bool told = false;
  while (!told) {
    told = sending().use(sending().next_chain().value(), 0);
    ++used;
  }
  EXPECT_EQ(used, count / 2 + 1);
  card->work(pair());
  EXPECT_EQ(user.changes, changes + 1);
  card->work(pair());
  EXPECT_EQ(user.changes, changes + 1);  // once
  EXPECT_TRUE(card->send(packet));
  end();
}

// Between the interrupt and the thread's look others took what was free: the device is asked once more.
TEST_F(VirtioCard, RoomThatOthersTookIsWaitedForAnew) {
  ASSERT_TRUE(start().ok());
  const network::Outgoing packet = outgoing(nullptr);
  while (card->send(packet)) {
  }
  const auto use_until_told = [&] {
    int used = 0;
    for (bool told = false; !told; ++used) told = sending().use(sending().next_chain().value(), 0);
    return used;
  };
  for (int used = use_until_told(); used > 0; --used) ASSERT_TRUE(card->send(packet));
  const int changes = user.changes;
  EXPECT_FALSE(card->work(pair()));
  EXPECT_EQ(user.changes, changes);
  EXPECT_EQ(use_until_told(), VirtioSender::most_frames / 2 + 1);
  card->work(pair());
  EXPECT_EQ(user.changes, changes + 1);
  end();
}

// A device that was not told of the last frames for a mistake would never make room.
TEST_F(VirtioCard, AFullRingRingsWhateverTheDeviceAskedFor) {
  ASSERT_TRUE(start().ok());
  const network::Outgoing packet = outgoing(nullptr);
  for (int i = 0; i < VirtioSender::most_frames; ++i) {
    ASSERT_TRUE(card->send(packet));
    card->flush();
  }
  const int rings = device.doorbells[1].writes;
  EXPECT_FALSE(card->send(packet));
  EXPECT_EQ(device.doorbells[1].writes, rings + 1);
  end();
}

// As by an emulator that looked for our wish before it saw it.
TEST_F(VirtioCard, APacketWithoutItsInterruptIsFoundALittleLater) {
  struct : ScheduleMachine {
    void switch_context(Thread&, Thread&) override {}
    void notify(std::uint32_t) override {}
    void wait_for_interrupt() override {}
  } machine;
  struct : TimerAlarm {
    void ring_at(Nanoseconds time) override { rings_at = time; }
    Nanoseconds rings_at;
  } alarm;
  Scheduler scheduler(machine);
  processor.scheduler = &scheduler;
  processor.timers.emplace(alarm);
  ASSERT_TRUE(start().ok());
  pair().begin();
  processor.timers->expire(alarm.rings_at);
  EXPECT_FALSE(card->work(pair()));
  arrive("unannounced");
  EXPECT_FALSE(pair().interrupted.load(MemoryOrder::relaxed)) << "so its thread sleeps";
  processor.timers->expire(alarm.rings_at);
  EXPECT_TRUE(pair().interrupted.load(MemoryOrder::relaxed));
  card->work(pair());
  EXPECT_EQ(user.texts, std::vector<std::string>{"unannounced"});
  card->detach(DrivenLink::Detaching::stops);
  processor.timers->expire(alarm.rings_at);
  EXPECT_EQ(processor.timers->next_deadline(), std::nullopt) << "of a stopped card nothing comes";
  end();
}

TEST_F(VirtioCard, ASmallRingSendsAsWell) {
  device.state.capacity = 2;
  ASSERT_TRUE(start().ok());
  const network::ByteChain chain = payload(5, 10);
  EXPECT_TRUE(card->send(outgoing(&chain)));
  EXPECT_FALSE(card->send(outgoing(&chain)));
  const std::uint16_t head = sending().next_chain().value();
  EXPECT_EQ(sent(head).size(), 76u);
  EXPECT_TRUE(sending().use(head, 0));
  card->work(pair());
  EXPECT_EQ(user.changes, 1);
  EXPECT_TRUE(card->send(outgoing(&chain)));
  card.reset();
}

TEST_F(VirtioCard, ADetachedCardGivesBackWhatIsOnItsWay) {
  ASSERT_TRUE(start().ok());
  network::ByteChain chain = payload(1, 100);
  const auto owners = [&] {
    std::uint32_t count = 0;
    chain.visit(0, 1, [&](network::Block& block, std::span<std::byte>) { count = block.references(); });
    return count;
  };
  ASSERT_TRUE(card->send(outgoing(&chain)) && card->send(outgoing(&chain)));
  card->flush();
  card->detach(DrivenLink::Detaching::waits);
  EXPECT_EQ(owners(), 3u);
  arrive("late");
  card->work(pair());
  EXPECT_TRUE(user.texts.empty());
  sending().put(sending().next_chain().value(), 0);
  sending().show();
  card->detach(DrivenLink::Detaching::waits);
  EXPECT_EQ(owners(), 2u);
  card->detach(DrivenLink::Detaching::stops);
  EXPECT_EQ(owners(), 1u);
  card->detach(DrivenLink::Detaching::waits);
  chain.clear();
  end();
}

}  // namespace
}  // namespace ingot::os
