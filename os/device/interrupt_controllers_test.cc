#include <gtest/gtest.h>

#include <memory>

#include "os/device/apic_controller.h"
#include "os/device/fake_ports.h"
#include "os/device/fake_registers.h"
#include "os/device/legacy_pic.h"
#include "os/interrupt/vectors.h"

namespace ingot::os {
namespace {

using Write = FakeRegisters::Write;

// Index and data as an I/O APIC has them.
class FakeIoApic final : public Registers {
 public:
  explicit FakeIoApic(std::uint32_t lines) { words[1] = (lines - 1) << 16 | 0x20; }
  mutable std::map<std::uint32_t, std::uint32_t> words;
  std::uint32_t selected = 0;

  std::uint32_t read(std::uint32_t offset) const override { return offset == 0x10 ? words[selected] : selected; }
  void write(std::uint32_t offset, std::uint32_t value) override { (offset == 0 ? selected : words[selected]) = value; }
};

TEST(XApic, ACommandIsItsDestinationThenItsMeaning) {
  FakeRegisters registers;
  XApicRegisters xapic(registers);
  LocalApic apic(xapic);
  apic.send(3, 0x41);
  EXPECT_EQ(registers.writes, (std::vector<Write>{{0x310, 3u << 24}, {0x300, 0x41}}));
  registers.writes.clear();
  apic.send_reset(1);
  apic.send_start(1, 8);
  EXPECT_EQ(registers.writes,
            (std::vector<Write>{{0x310, 1u << 24}, {0x300, 0x4500}, {0x310, 1u << 24}, {0x300, 0x4608}}));
  registers.writes.clear();
  apic.send_non_maskable_to_others();
  EXPECT_EQ(registers.writes.back(), (Write{0x300, 0xc4400}));
  registers.words[0x20] = 0x05000000;
  EXPECT_EQ(apic.id(), 5u);
}

TEST(XApic, WaitsUntilTheLastCommandHasLeft) {
  static FakeRegisters* registers;
  FakeRegisters fake;
  registers = &fake;
  fake.words[0x300] = 1u << 12;
  XApicRegisters xapic(fake);
  arch::hosted::thread.on_pause = [] { registers->words[0x300] = 0; };
  LocalApic(xapic).send(0, 0x30);
  arch::hosted::thread.on_pause = nullptr;
  EXPECT_EQ(fake.words[0x300], 0x30u);
}

TEST(X2Apic, ACommandIsOneWriteOfAModelRegister) {
  X2ApicRegisters x2apic;
  LocalApic apic(x2apic);
  apic.send(300, 0x41);
  EXPECT_EQ(arch::hosted::thread.model_register, 0x830u);
  EXPECT_EQ(arch::hosted::thread.model_value, 300ull << 32 | 0x41);
  apic.end_of_interrupt();
  EXPECT_EQ(arch::hosted::thread.model_register, 0x80bu);
  x2apic.turn_on();
  EXPECT_EQ(arch::hosted::thread.model_register, 0x1bu);
  EXPECT_EQ(arch::hosted::thread.model_value, 0xc00u);
  apic.pass_8259s();
  EXPECT_EQ(arch::hosted::thread.model_register, 0x835u);
  EXPECT_EQ(arch::hosted::thread.model_value, 0x700u);
}

TEST(LocalApic, EnablingMasksItsOwnLinesFirst) {
  FakeRegisters registers;
  XApicRegisters xapic(registers);
  LocalApic apic(xapic);
  apic.enable();
  EXPECT_EQ(registers.words[0x320], 0x10000u);
  EXPECT_EQ(registers.words[0x350], 0x10000u);
  EXPECT_EQ(registers.words[0x360], 0x400u);
  EXPECT_EQ(registers.words[0x80], 0u);
  EXPECT_EQ(registers.writes.back(), (Write{0xf0, 0x1ff}));
  apic.set_timer(vectors::timer, LocalApic::TimerMode::one_shot);
  EXPECT_EQ(registers.words[0x320], 0xf0u);
  EXPECT_EQ(registers.words[0x3e0], 0xbu);
  apic.set_timer(vectors::timer, LocalApic::TimerMode::cycle_deadline);
  EXPECT_EQ(registers.words[0x320], 0x400f0u);
}

TEST(IoApic, LinesBeginMaskedAndAreRoutedMasked) {
  FakeIoApic registers(24);
  registers.words[0x10 + 2 * 23] = 0x31;
  IoApic io_apic(registers, 24);
  EXPECT_EQ(io_apic.line_count(), 24u);
  EXPECT_EQ(registers.words[0x10 + 2 * 23], 0x10000u);
  EXPECT_FALSE(io_apic.has(23));
  EXPECT_TRUE(io_apic.has(47));
  EXPECT_FALSE(io_apic.has(48));
  io_apic.route({26, Polarity::active_low, Trigger::level}, 0x45, 7);
  EXPECT_EQ(registers.words[0x14], 0x1a045u);
  EXPECT_EQ(registers.words[0x15], 7u << 24);
  io_apic.set_masked(26, false);
  EXPECT_EQ(registers.words[0x14], 0x0a045u);
  io_apic.set_masked(26, true);
  EXPECT_EQ(registers.words[0x14], 0x1a045u);
  io_apic.route({24, Polarity::active_high, Trigger::edge}, 0x46, 0);
  EXPECT_EQ(registers.words[0x10], 0x10046u);
}

class ApicControllerTest : public ::testing::Test {
 protected:
  ApicControllerTest() {
    for (std::uint32_t id : {4u, 0u, 2u, 300u}) table_->processors.add({id, id, id != 2, id == 2});
    table_->overrides.add({0, 2, Polarity::as_the_bus, Trigger::as_the_bus});
    table_->overrides.add({9, 9, Polarity::active_high, Trigger::level});
    local_registers_.words[0x20] = 0;  // this is APIC 0
  }

  std::unique_ptr<AcpiInterrupts> table_ = std::make_unique<AcpiInterrupts>();
  FakeRegisters local_registers_;
  XApicRegisters xapic_{local_registers_};
  LocalApic local_{xapic_};
  FakeIoApic first_{24}, second_{8};
  IoApic io_apics_[2] = {IoApic(first_, 0), IoApic(second_, 24)};
  IoApic* list_[2] = {&io_apics_[0], &io_apics_[1]};
  InterruptTable handlers_;
};

TEST_F(ApicControllerTest, ThisCpuIsTheFirstAndThoseThatMayComeLaterAreLeftOut) {
  ApicController controller(local_, list_, *table_);
  const auto ids = controller.apic_ids();
  EXPECT_EQ(std::vector<std::uint32_t>(ids.begin(), ids.end()), (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(controller.processors_left_out(), 1u);  // a command of 8 bits would reach CPU 44 for CPU 300
  controller.send(1, 0x50);
  EXPECT_EQ(local_registers_.words[0x310], 4u << 24);
}

TEST_F(ApicControllerTest, MoreCpusThanTheKernelTellsApartAreCounted) {
  for (std::uint32_t id = 5; id < 99; ++id) table_->processors.add({id, id, true, false});
  ApicController controller(local_, list_, *table_);  // 96 can be started, and one has number 300
  EXPECT_EQ(controller.apic_ids().size(), ApicController::most_processors);
  EXPECT_EQ(controller.processors_left_out(), 33u);
}

// With x2APIC every number can be said in a command; devices' interrupts still go to the first 255 only.
TEST_F(ApicControllerTest, LargeNumbersAreUsedWhereCommandsCanSayThem) {
  struct : LocalApicRegisters {
    std::uint32_t read(std::uint32_t) const override { return 0; }
    void write(std::uint32_t, std::uint32_t) override {}
    void command(std::uint32_t destination, std::uint32_t) override { commanded = destination; }
    std::uint32_t id() const override { return 0; }
    std::uint32_t highest_id() const override { return 0xfffffffe; }
    void turn_on() override {}
    std::uint32_t commanded = 0;
  } wide;
  LocalApic local(wide);
  ApicController controller(local, list_, *table_);
  EXPECT_EQ(controller.processors_left_out(), 0u);
  controller.send(2, 0x50);
  EXPECT_EQ(wide.commanded, 300u);
  const InterruptHandler handler{[](void*, arch::TrapFrame&) {}, nullptr};
  EXPECT_FALSE(controller.connect(handlers_, {1}, handler, 2).ok());
  EXPECT_FALSE(controller.connect_message(handlers_, handler, 2).ok());
}

TEST_F(ApicControllerTest, OverridesMoveIsaLines) {
  ApicController controller(local_, list_, *table_);
  EXPECT_EQ(controller.isa_line(0), (InterruptLine{2, Polarity::active_high, Trigger::edge}));
  EXPECT_EQ(controller.isa_line(9), (InterruptLine{9, Polarity::active_high, Trigger::level}));
  EXPECT_EQ(controller.isa_line(4), (InterruptLine{4, Polarity::active_high, Trigger::edge}));
}

TEST_F(ApicControllerTest, ConnectingFindsAVectorRoutesAndOpens) {
  ApicController controller(local_, list_, *table_);
  const InterruptHandler handler{[](void*, arch::TrapFrame&) {}, nullptr};
  const InterruptLine line{25, Polarity::active_low, Trigger::level};
  const Result<std::uint8_t> vector = controller.connect(handlers_, line, handler, 1);
  ASSERT_TRUE(vector.ok()) << vector.error().text();
  EXPECT_EQ(vector.value(), vectors::first_device);
  EXPECT_EQ(second_.words[0x12], 0xa030u);
  EXPECT_EQ(second_.words[0x13], 4u << 24);
  controller.disconnect(handlers_, line, vector.value());
  EXPECT_EQ(second_.words[0x12], 0x1a030u);
  // What cannot be routed keeps no vector.
  EXPECT_FALSE(controller.connect(handlers_, {32}, handler, 0).ok());
  EXPECT_FALSE(controller.connect_message(handlers_, handler, 3).ok());
  const Result<MessageInterrupt> message = controller.connect_message(handlers_, handler, 1);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message.value().vector, vectors::first_device);
  EXPECT_EQ(message.value().message.address, 0xfee04000u);
  EXPECT_EQ(message.value().message.data, vectors::first_device);
}

TEST(LegacyPic, SilencingMovesTheVectorsAndMasksAll) {
  FakePorts ports;
  LegacyPic::silence();
  EXPECT_EQ(ports.writes[2], (FakePorts::Write{0x21, 0x20, 1}));
  EXPECT_EQ(ports.writes[3], (FakePorts::Write{0xa1, 0x28, 1}));
  EXPECT_EQ(ports.writes[8], (FakePorts::Write{0x21, 0xff, 1}));
  EXPECT_EQ(ports.writes[9], (FakePorts::Write{0xa1, 0xff, 1}));
}

TEST(LegacyPic, ALineHasItsOwnVectorAndOpensTheWayBetweenTheTwo) {
  FakePorts ports;
  LegacyPic pic;
  InterruptTable handlers;
  const InterruptHandler handler{[](void*, arch::TrapFrame&) {}, nullptr};
  EXPECT_EQ(pic.connect(handlers, pic.isa_line(12), handler, 0).value(), 0x2c);
  EXPECT_EQ(ports.writes, (std::vector<FakePorts::Write>{{0x21, 0xfb, 1}, {0xa1, 0xef, 1}}));
  EXPECT_FALSE(pic.connect(handlers, {2}, handler, 0).ok());
  EXPECT_FALSE(pic.connect(handlers, {16}, handler, 0).ok());
  EXPECT_FALSE(pic.connect(handlers, {5}, handler, 1).ok());
  EXPECT_FALSE(pic.connect_message(handlers, handler, 0).ok());
}

TEST(LegacyPic, EndsWhatBeganAndNothingElse) {
  FakePorts ports;
  LegacyPic pic;
  pic.end_of_interrupt(0x21);
  EXPECT_EQ(ports.writes, (std::vector<FakePorts::Write>{{0x20, 0x61, 1}}));
  ports.writes.clear();
  pic.end_of_interrupt(0x2c);
  EXPECT_EQ(ports.writes, (std::vector<FakePorts::Write>{{0xa0, 0x64, 1}, {0x20, 0x62, 1}}));
  ports.answers[0x20] = {0x00};
  EXPECT_TRUE(pic.is_spurious(0x27));
  ports.answers[0x20] = {0x80};
  EXPECT_FALSE(pic.is_spurious(0x27));
  // The second's spurious interrupt was begun by the first, and is ended there.
  ports.answers[0xa0] = {0x00};
  ports.writes.clear();
  EXPECT_TRUE(pic.is_spurious(0x2f));
  EXPECT_EQ(ports.writes.back(), (FakePorts::Write{0x20, 0x62, 1}));
  EXPECT_FALSE(pic.is_spurious(0x24));
}

}  // namespace
}  // namespace ingot::os
