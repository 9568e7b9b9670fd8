#include "machine/gpu/emulated/device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "machine/guard_watch.h"

namespace ingot {
namespace {

TEST(EmulatedDevice, SaysWhatItIs) {
  const auto device = EmulatedDevice::create({.memory_bytes = 4096}).value();
  EXPECT_TRUE(device->information().is_emulated);
  EXPECT_EQ(device->information().capability, 80);
  EXPECT_EQ(device->information().features, FeatureSet{Feature::sm_80});
  EXPECT_EQ(device->information().memory_bytes, 4096u);
}

TEST(EmulatedDevice, RefusesAnOrderThatIsNone) {
  for (int order : {-1, 8}) {
    const Result<std::unique_ptr<EmulatedDevice>> device = EmulatedDevice::create({.order = order});
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().code(), ErrorCode::invalid_argument);
  }
}

TEST(EmulatedDevice, MemoryEndsWhereItIsTold) {
  const auto device = EmulatedDevice::create({.memory_bytes = 10000}).value();
  {
    const DeviceMemory first = device->allocate(6000).value();
    EXPECT_EQ(device->memory_state().value().free_bytes, 4000u);
    const Result<DeviceMemory> second = device->allocate(4001);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code(), ErrorCode::out_of_memory);
    EXPECT_NE(second.error().text().find("4001"), std::string_view::npos) << second.error().text();
    EXPECT_NE(second.error().text().find("4000"), std::string_view::npos) << second.error().text();
    EXPECT_TRUE(device->allocate(4000).ok());
  }
  EXPECT_EQ(device->memory_state().value().free_bytes, 10000u);
  EXPECT_TRUE(device->allocate(10000).ok());
}

TEST(EmulatedDevice, MemoryIsAlignedAndHoldsNothingOfUse) {
  const auto device = EmulatedDevice::create().value();
  for (std::size_t bytes : {std::size_t{1}, std::size_t{255}, std::size_t{4096}, std::size_t{3} << 20}) {
    const DeviceMemory memory = device->allocate(bytes).value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0u);
    EXPECT_EQ(memory.size(), bytes);
    EXPECT_EQ(memory.data()[bytes - 1], std::byte{0xff});
  }
  EXPECT_EQ(device->allocate(0).value().data(), nullptr);
}

TEST(EmulatedDevice, AReadBehindTheEndIsFoundByAWatch) {
  const auto device = EmulatedDevice::create().value();
  const DeviceMemory memory = device->allocate(512).value();
  const std::byte* behind = memory.data() + 512;
  GuardWatch watch(device->guarded_memory(), StrayAccess::ends_program);
  (void)*static_cast<const volatile std::byte*>(behind);
  ASSERT_TRUE(watch.trespass().has_value());
  EXPECT_EQ(watch.trespass()->address, behind);
}

TEST(EmulatedDevice, CopiesAndFillsGoThere) {
  const auto device = EmulatedDevice::create().value();
  const auto queue = device->make_queue().value();
  const DeviceMemory memory = device->allocate(16).value();
  const std::vector<std::byte> in(8, std::byte{7});
  std::vector<std::byte> out(16);
  queue->fill(memory.data(), 3, 16);
  queue->copy_in(memory.data(), in.data(), 8);
  queue->copy_within(memory.data() + 12, memory.data(), 4);
  queue->copy_out(out.data(), memory.data(), 16);
  ASSERT_TRUE(queue->wait().ok());
  EXPECT_EQ(out[0], std::byte{7});
  EXPECT_EQ(out[11], std::byte{3});
  EXPECT_EQ(out[15], std::byte{7});
}

TEST(EmulatedDevice, ACopyOutsideOfItsMemoryFailsAndNothingFollows) {
  const auto device = EmulatedDevice::create().value();
  const auto queue = device->make_queue().value();
  const auto other = device->make_queue().value();
  const DeviceMemory memory = device->allocate(16).value();
  std::vector<std::byte> host(32, std::byte{1});
  queue->name_step("upload");
  queue->copy_in(memory.data() + 1, host.data(), 16);
  queue->fill(memory.data(), 3, 16);
  const Result<void> waited = queue->wait();
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().code(), ErrorCode::out_of_range);
  EXPECT_TRUE(waited.error().text().starts_with("step upload: ")) << waited.error().text();
  EXPECT_EQ(memory.data()[0], std::byte{0xff});
  EXPECT_FALSE(other->wait().ok()) << "a device that failed is of no more use";
}

}  // namespace
}  // namespace ingot
