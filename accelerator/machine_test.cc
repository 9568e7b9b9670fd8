// A machine's programs on an accelerator: their pages lie scattered over a file, the worker sees them in one piece, and
// only the machine's kernel says which.
#include <cstring>

#include "accelerator/broker_fixture.h"
#include "accelerator/fake_machine.h"
#include "kernels/contract/accelerated_call.h"
#include "kernels/contract/case_builder.h"
#include "kernels/contract/table.h"
#include "profile/compare.h"
#include "profile/tensor_pieces.h"

namespace ingot {
namespace {

using accelerator::MemoryCode;
using accelerator::page_bytes;
using accelerator::vendor_packet;
using accelerator::VendorCode;
using accelerator::WorkerState;

class MachineOnAccelerator : public WithBroker {
 protected:
  void SetUp() override { ASSERT_EQ(machine.begin(), ""); }
  std::unique_ptr<AcceleratorClient> open() {
    auto client = AcceleratorClient::create(std::make_unique<NodeLink>(std::make_unique<FakeNode>(machine)), "test");
    EXPECT_TRUE(client.ok());
    return std::move(client).value();
  }
  FakeMachine machine{broker.path()};
};

TEST_F(MachineOnAccelerator, ScatteredPagesAreOnePieceToTheWorker) {
  const auto client = open();
  const SharedMemory memory = client->make_memory(Bytes(64 * page_bytes), "test").value();
  for (std::size_t i = 0; i < memory.size(); ++i) memory.data()[i] = static_cast<std::byte>(i * 7 + i / page_bytes);
  const std::vector<std::byte> before(memory.data(), memory.data() + memory.size());
  ASSERT_TRUE(client->map(memory).ok());
  const std::uint64_t address = memory.address();
  const std::uint64_t bytes = 20 * page_bytes + 100;
  ASSERT_TRUE(
      client->call(vendor_packet(VendorCode::copy, {address + 32 * page_bytes + 5, address + 3, bytes, 0}, 0)).ok());
  EXPECT_EQ(std::memcmp(memory.data() + 32 * page_bytes + 5, before.data() + 3, bytes), 0);
  EXPECT_EQ(std::memcmp(memory.data(), before.data(), 32 * page_bytes + 5), 0);
  ASSERT_TRUE(client->unmap(memory.data()).ok());
  EXPECT_FALSE(client->call(vendor_packet(VendorCode::fill, {address, 1, 0, 0}, 0)).ok());
}

TEST_F(MachineOnAccelerator, ContractsGiveTheBitsThatThisProcessGives) {
  const auto device = AcceleratorDevice::over(open(), "a fake machine's accelerator");
  const auto queue = device->make_accelerator_queue().value();
  for (const char* name : {"norm.rms_norm", "linear.matmul", "attention.softmax"}) {
    const Operation& operation = *find_operation(name);
    CaseBuilder builder(7, Regime::ordinary, LayoutStyle::packed, 0xa5);
    std::size_t index = 0;
    while (operation.cases[index].purpose != CasePurpose::parity) ++index;
    const std::unique_ptr<Invocation> here = operation.build(static_cast<int>(index), builder);
    const std::vector<Footprint> pieces = tensor_pieces(operation, *here);
    std::vector<DeviceMemory> memories;
    std::vector<std::byte*> homes;
    for (const Footprint& piece : pieces) {
      memories.push_back(device->allocate(piece.size() + 64).value());
      homes.push_back(memories.back().data());
      if (piece.size() > 0) std::memcpy(homes.back(), std::bit_cast<const void*>(piece.begin), piece.size());
    }
    const std::unique_ptr<Invocation> there = moved_call(operation, *here, pieces, homes, Place::host).value();
    ASSERT_TRUE(AcceleratedCalls(*queue).put(operation, *there).ok());
    const Result<void> done = queue->wait();
    ASSERT_TRUE(done.ok()) << name << ": " << done.error().text();
    const std::array operations = {&operation};
    const KernelTable table = KernelTable::select(operations, Machine::detect().features).value();
    const auto workers = Workers::create({.threads = 1}).value();
    const int row = table.choose(operation, *here);
    std::vector<std::byte> scratch(here->scratch_bytes(row, 1) + 64);
    Context context{*workers, scratch};
    here->run(row, context);
    for (std::size_t field = 0; field < operation.fields.size(); ++field) {
      const int number = static_cast<int>(field);
      if (!operation.fields[field].is_tensor || !is_written(operation.fields[field].role)) continue;
      if (!is_present(here->tensor(number))) continue;
      EXPECT_TRUE(bit_equal(here->tensor(number), there->tensor(number))) << name;
    }
  }
}

TEST_F(MachineOnAccelerator, TheNextProgramGoesOnBehindTheFormer) {
  for (int program = 0; program < 5; ++program) {
    const auto client = open();
    const SharedMemory memory = client->make_memory(Bytes(2 * page_bytes), "test").value();
    ASSERT_TRUE(client->map(memory).ok());
    const std::uint64_t address = memory.address();
    for (std::uint64_t i = 0; i < 3 * accelerator::command_count / 4; ++i) {
      const auto tag = client->submit(vendor_packet(VendorCode::fill, {address, page_bytes, i % 200, 0}, 0),
                                      AcceleratorClient::Answered::on_failure);
      ASSERT_TRUE(tag.ok());
    }
    ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
    EXPECT_FALSE(client->take_failure().has_value());
    EXPECT_EQ(memory.data()[page_bytes - 1], static_cast<std::byte>((3 * accelerator::command_count / 4 - 1) % 200));
    // What it leaves undone, and refusals that nobody reads, are no concern of the next one.
    for (int i = 0; i < 9; ++i) {
      ASSERT_TRUE(
          client->submit(vendor_packet(VendorCode::fill, {64, 64, 0, 0}, 0), AcceleratorClient::Answered::on_failure)
              .ok());
    }
  }
}

// Programs of one kind have the same addresses, so what one leaves in the ring names the next one's memory.
TEST_F(MachineOnAccelerator, WhatAProgramLeftUndoneReachesNoMemoryOfTheNext) {
  const SharedMemory memory = SharedMemory::create_private(Bytes(64 * page_bytes)).value();
  for (int program = 0; program < 3; ++program) {
    const auto client = open();
    std::memset(memory.data(), 0x77, memory.size());
    ASSERT_TRUE(client->map(memory).ok());
    ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.size(), [](std::byte each) {
      return each == std::byte{0x77};
    })) << program;
    for (std::uint64_t i = 0; i < accelerator::command_count - 1; ++i) {
      ASSERT_TRUE(client
                      ->submit(vendor_packet(VendorCode::fill, {memory.address(), memory.size(), 7, 0}, 0),
                               AcceleratorClient::Answered::on_failure)
                      .ok());
    }
  }
}

TEST_F(MachineOnAccelerator, AProgramLeavesNoListsToTheNext) {
  const SharedMemory memory = SharedMemory::create_private(Bytes(page_bytes)).value();
  for (std::uint64_t program = 0; program < 2; ++program) {
    const auto client = open();
    const accelerator::Packet nothing = accelerator::barrier_packet(0);  // a list that reaches no memory
    std::memcpy(memory.data(), &nothing, sizeof nothing);
    ASSERT_TRUE(client->map(memory).ok());
    for (std::uint64_t list = 0; list < accelerator::most_lists; ++list) {
      ASSERT_TRUE(
          client
              ->submit(vendor_packet(VendorCode::record_list, {program << 32 | list, memory.address(), 1, 0}, 0),
                       AcceleratorClient::Answered::on_failure)
              .ok());
    }
    ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
    const std::optional<Error> refused = client->take_failure();
    EXPECT_FALSE(refused.has_value()) << refused->text();
  }
}

TEST_F(MachineOnAccelerator, MemoryThatWasTakenBackIsWrittenNoMore) {
  const auto client = open();
  const SharedMemory memory = client->make_memory(Bytes(16 * page_bytes), "test").value();
  const std::uint64_t address = memory.address();
  for (int round = 0; round < 50; ++round) {
    ASSERT_TRUE(client->map(memory).ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(client
                      ->submit(vendor_packet(VendorCode::fill, {address, 16 * page_bytes, 7, 0}, 0),
                               AcceleratorClient::Answered::on_failure)
                      .ok());
    }
    ASSERT_TRUE(client->unmap(memory.data()).ok());  // between two of them
    std::memset(memory.data(), round, 16 * page_bytes);
    static_cast<void>(client->call(accelerator::barrier_packet(0)).ok());
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + 16 * page_bytes,
                            [&](std::byte each) { return each == static_cast<std::byte>(round); }));
    static_cast<void>(client->take_failure());
  }
}

TEST_F(MachineOnAccelerator, OnlyItsKernelSaysWhatIsSeen) {
  const auto client = open();
  const SharedMemory memory = client->make_memory(Bytes(4 * page_bytes), "test").value();
  const std::uint64_t address = memory.address();
  ASSERT_TRUE(client->map(memory, false).ok());
  const auto filled = client->call(vendor_packet(VendorCode::fill, {address, 8, 1, 0}, 0));
  ASSERT_FALSE(filled.ok());
  EXPECT_NE(filled.error().text().find("may be written"), std::string_view::npos);
  EXPECT_FALSE(client->map(memory).ok());  // again
  // Memory orders as commands are nothing.
  const auto order = std::bit_cast<accelerator::Packet>(
      accelerator::memory_packet(MemoryCode::map_pieces, {1 << 20, page_bytes, 0, 1}, 0, accelerator::right_write));
  EXPECT_FALSE(client->call(order).ok());
  EXPECT_EQ(text_of(machine.order(MemoryCode::adopt, {})).substr(0, 8), "expected");
}

TEST_F(MachineOnAccelerator, TheEndOfTheWorkerIsToldInWordsOfTheBroker) {
  const auto client = open();
  EXPECT_EQ(machine.client().words().memory().state.load(MemoryOrder::acquire), WorkerState::ready);
  const std::uint64_t beat = machine.client().words().memory().heartbeat.load(MemoryOrder::relaxed);
  EXPECT_TRUE(RawClient::holds_within(std::chrono::seconds(20), [&] {
    return machine.client().words().memory().heartbeat.load(MemoryOrder::relaxed) > beat;
  }));
  const accelerator::SharedWords words = machine.client().words();
  EXPECT_EQ(words.owners_broker().worker_is_gone.load(MemoryOrder::acquire), 0u);
  words.doorbell().command_write.store(~std::uint64_t{0}, MemoryOrder::release);
  machine.client().ring();
  EXPECT_TRUE(RawClient::holds_within(
      std::chrono::seconds(20), [&] { return words.owners_broker().worker_is_gone.load(MemoryOrder::acquire) == 1; }));
  EXPECT_TRUE(RawClient::holds_within(std::chrono::seconds(20),
                                      [&] { return words.broker().worker_is_gone.load(MemoryOrder::acquire) == 1; }));
  for (const Descriptor* bell : {&machine.client().greeting.answer_bell, &machine.client().greeting.fault_bell}) {
    pollfd waiting = {bell->get(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 20000), 1);
  }
  EXPECT_EQ(words.memory().state.load(MemoryOrder::acquire), WorkerState::misled);
  const auto called = client->call(accelerator::barrier_packet(0));
  ASSERT_FALSE(called.ok());
  EXPECT_NE(called.error().text().find("rings that nobody fills so"), std::string_view::npos);
}

}  // namespace
}  // namespace ingot
