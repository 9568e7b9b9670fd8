#include "os/device/virtio/network/virtio_network.h"

#include <gtest/gtest.h>

#include "os/device/virtio/network/virtio_network_fixture.h"

namespace ingot::os {
namespace {

using namespace virtio_network;

TEST_F(VirtioCard, UsesWhatIsOffered) {
  EXPECT_EQ(choose(0), 0u);
  EXPECT_EQ(choose(~std::uint64_t{0}) & host_segments_v4, host_segments_v4);
  EXPECT_EQ(choose(host_segments_v4 | host_segments_v6), 0u);             // nobody would sum them
  EXPECT_EQ(choose(guest_checksum | guest_segments_v4), guest_checksum);  // nowhere to put them
  EXPECT_EQ(choose(merged_buffers | guest_segments_v4), merged_buffers);
  EXPECT_EQ(choose(several_pairs), 0u);  // no way to ask for them
  device.state.offered |= checksum | host_segments_v6;
  ASSERT_TRUE(start().ok());
  const network::LinkProperties& link = card->properties();
  EXPECT_EQ(link.address, (network::HardwareAddress{0x52, 0x54, 0, 0x12, 0x34, 0x56}));
  EXPECT_EQ(link.mtu, 1500);
  EXPECT_TRUE(link.computes_checksums);
  EXPECT_FALSE(link.cuts_v4);
  EXPECT_TRUE(link.cuts_v6);
  EXPECT_TRUE(card->is_up());
  end();
}

TEST_F(VirtioCard, SettingsThatMakeNoSenseAreRefused) {
  const auto refuses = [&](std::size_t at, std::uint8_t value) {
    const std::uint8_t before = std::exchange(device.fields.bytes[at], value);
    EXPECT_FALSE(start().ok()) << at;
    EXPECT_FALSE(device.state.is_running());
    device.fields.bytes[at] = before;
    end();
  };
  refuses(0, 0x53);  // an address of many
  device.fields.bytes[10] = 67;
  refuses(11, 0);  // MTU 67
  device.state.offered |= control_queue | several_pairs;
  refuses(8, 0);     // no pairs
  refuses(9, 0x80);  // 32769
  device.state.capacity = 0;
  EXPECT_FALSE(start().ok());
  device.state.capacity = 1;  // no room for headers and payload
  EXPECT_FALSE(start().ok());
  device.state.capacity = 256;
  device.interrupts = 0;
  EXPECT_FALSE(start().ok());
  end();
}

TEST_F(VirtioCard, WithoutFieldsOfItsOwnItGetsUsualOnes) {
  device.state.offered = virtio_version_1;
  device.fields.bytes.clear();
  ASSERT_TRUE(start().ok());
  EXPECT_EQ(card->properties().address, fallback);
  EXPECT_EQ(card->properties().mtu, 1500);
  EXPECT_TRUE(card->is_up());
  arrive("by flags alone");
  EXPECT_FALSE(card->work(pair()));
  EXPECT_EQ(user.texts, std::vector<std::string>{"by flags alone"});
  end();
}

TEST_F(VirtioCard, PacketsLargerThanABufferNeedSeveral) {
  device.fields.bytes[10] = 0x28;
  device.fields.bytes[11] = 0x23;  // 9000
  ASSERT_TRUE(start().ok());
  EXPECT_EQ(card->properties().mtu, 9000);
  end();
  device.state.offered &= ~merged_buffers;
  ASSERT_TRUE(start().ok());
  EXPECT_EQ(card->properties().mtu, 4096 - 30);
  end();
}

TEST_F(VirtioCard, ALinkThatGoesDownIsTold) {
  ASSERT_TRUE(start().ok());
  device.fields.bytes[6] = 0;
  device.interrupt_for_configuration();
  card->work(pair());
  EXPECT_FALSE(card->is_up());
  EXPECT_EQ(user.changes, 1);
  EXPECT_FALSE(card->send(outgoing(nullptr)));
  device.fields.bytes[6] = 1;
  device.interrupt_for_configuration();
  card->work(pair());
  EXPECT_TRUE(card->is_up());
  EXPECT_TRUE(card->send(outgoing(nullptr)));
  end();
}

TEST_F(VirtioCard, ADeviceThatBreaksTheRulesIsStoppedWithOneLine) {
  for (const bool while_sending : {false, true}) {
    ASSERT_TRUE(start().ok());
    if (while_sending) {
      EXPECT_TRUE(card->send(outgoing(nullptr)));
      card->flush();
      sending().use(9, 0);
      EXPECT_FALSE(card->send(outgoing(nullptr)));
    } else {
      receiving().use(receiving().next_chain().value(), 4097);
    }
    EXPECT_FALSE(card->work(pair()));
    EXPECT_FALSE(card->work(pair()));
    EXPECT_FALSE(device.state.is_running());
    EXPECT_FALSE(card->is_up());
    EXPECT_FALSE(card->send(outgoing(nullptr)));
    EXPECT_EQ(card->faults(), 1u);
    int lines = 0;
    log.visit_kept([&](std::string_view line) { lines += line.starts_with("warning: eth0: stopped") ? 1 : 0; });
    EXPECT_EQ(lines, while_sending ? 2 : 1);
    card.reset();
  }
  expect_all_given_back();
}

TEST_F(VirtioCard, EveryCpuHasAPairWhereTheDeviceTakesThem) {
  device.state.offered |= control_queue | several_pairs;
  device.fields.bytes[8] = 3;
  FakeVirtioRing* control = nullptr;
  for (const std::uint8_t answer : {0, 1}) {
    device.doorbells[6].on_write = [&] {
      control = &device.state.rings[6];
      const std::uint16_t head = control->next_chain().value();
      const auto pieces = control->chain(head);
      const auto* command = memory.window().at<std::uint8_t>(PhysicalAddress(pieces.at(0).address));
      EXPECT_EQ(command[0], 4);
      EXPECT_EQ(memory.window().at<std::uint8_t>(PhysicalAddress(pieces.at(1).address))[0], 2);
      *memory.window().at<std::uint8_t>(PhysicalAddress(pieces.at(2).address)) = answer;
      control->use(head, 1);
    };
    ASSERT_TRUE(start(2).ok());
    EXPECT_EQ(card->pairs().size(), answer == 0 ? 2u : 1u);
    EXPECT_EQ(device.targets.size(), 2u);
    EXPECT_EQ(device.targets[1].cpu, 1u);
    if (answer != 0) continue;
    // What CPU 1 sends goes by its own pair.
    Processor second(1);
    arch::set_current_cpu(second);
    EXPECT_TRUE(card->send(outgoing(nullptr)));
    card->flush();
    EXPECT_EQ(sending().next_chain(), std::nullopt);
    EXPECT_TRUE(device.state.rings[3].next_chain().has_value());
    arch::set_current_cpu(processor);
  }
  end();
}

TEST_F(VirtioCard, WantOfMemoryAtTheStartLeavesNothing) {
  device.state.capacity = 8;
  bool started = false;
  for (int left = 0; !started; ++left) {
    heap.left = left;
    started = start().ok();
    if (!started) {
      EXPECT_FALSE(device.state.is_running());
      card.reset();
      expect_all_given_back();
    }
    ASSERT_LT(left, 100);
  }
  end();
}

}  // namespace
}  // namespace ingot::os
