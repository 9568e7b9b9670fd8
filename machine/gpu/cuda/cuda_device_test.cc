#include "machine/gpu/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include "machine/gpu/cuda/address_range.h"
#include "machine/gpu/cuda/device_list.h"
#include "machine/gpu/cuda/fake_driver.h"

namespace ingot {
namespace {

std::string error_of_create(FakeDriver& fake, int index) {
  const auto device = CudaDevice::create(fake.driver(), index);
  if (device.ok()) return "";
  EXPECT_TRUE(fake.live.empty());
  return std::string(device.error().text());
}

std::unique_ptr<CudaDevice> device_of(FakeDriver& fake) {
  auto device = CudaDevice::create(fake.driver(), 0);
  EXPECT_TRUE(device.ok());
  return std::move(device).value();
}

TEST(CudaDevice, SaysWhatItIs) {
  FakeDriver fake;
  const auto device = CudaDevice::create(fake.driver(), 1);
  ASSERT_TRUE(device.ok()) << device.error().text();
  const DeviceInformation& information = device.value()->information();
  EXPECT_EQ(information.name, "Fake GPU");
  EXPECT_EQ(information.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(information.index, 1);
  EXPECT_EQ(information.capability, 90);
  EXPECT_EQ(information.multiprocessors, 132);
  EXPECT_EQ(information.level2_bytes, std::size_t{60} << 20);
  EXPECT_EQ(information.memory_bytes, std::size_t{1} << 34);
  EXPECT_EQ(information.driver_version, 13000);
  EXPECT_FALSE(information.is_emulated);
}

TEST(CudaDevice, FeaturesFollowTheChip) {
  EXPECT_EQ(features_of_capability(75), FeatureSet{});
  EXPECT_EQ(features_of_capability(80), FeatureSet{Feature::sm_80});
  EXPECT_EQ(features_of_capability(86), FeatureSet{Feature::sm_80});
  EXPECT_EQ(features_of_capability(89), (FeatureSet{Feature::sm_80, Feature::sm_89}));
  EXPECT_EQ(features_of_capability(90), (FeatureSet{Feature::sm_80, Feature::sm_89, Feature::sm_90a}));
  EXPECT_EQ(features_of_capability(100), (FeatureSet{Feature::sm_80, Feature::sm_89}));
}

TEST(CudaDevice, WhatIsMissingIsNamedInOrder) {
  FakeDriver fake;
  fake.capability = 75;
  EXPECT_EQ(error_of_create(fake, 0),
            "expected a GPU of compute capability 8.0 or later, found Fake GPU (cuda:0) with 7.5");
  fake.capability = 86;
  fake.shared_bytes_of_block = 99 << 10;
  EXPECT_EQ(
      error_of_create(fake, 0),
      "expected a GPU that gives a block 160 KiB of shared memory (A100, H100, H200 and their like), found Fake GPU "
      "(cuda:0) with 99");
  EXPECT_EQ(error_of_create(fake, 2), "expected a GPU from cuda:0 to cuda:1, found cuda:2: the driver shows 2 GPUs");
  EXPECT_FALSE(error_of_create(fake, -1).empty());
  for (const int none : {0, -1}) {  // a driver that counts none, and one that will not even start
    fake.devices = none;
    EXPECT_NE(error_of_create(fake, 2).find("expected an NVIDIA GPU, found"), std::string::npos);
  }
  fake.fail_symbol = "cuInit";
  EXPECT_NE(error_of_create(fake, 2).find("while NVIDIA's driver was started: cuInit: CUDA_ERROR"), std::string::npos);
}

TEST(CudaDevice, ListingTakesNothing) {
  FakeDriver fake;
  fake.capability = 75;
  const auto devices = list_cuda_devices(fake.driver());
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(devices.value().size(), 2U);
  EXPECT_EQ(devices.value()[1].index, 1);
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain"), 0);
}

TEST(CudaDevice, TooMuchMemoryIsToldWithWhatIsFree) {
  FakeDriver fake;
  const auto device = device_of(fake);
  const auto memory = device->allocate(fake.total_bytes + 1);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(memory.error().text(),
            "expected 17179869185 bytes of memory on cuda:0, found 1000 of 17179869184 free: cuMemAlloc_v2: "
            "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  const auto none = device->allocate(0);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none.value().data(), nullptr);
}

TEST(CudaDevice, MemoryIsReleasedOnceWhoeverHasIt) {
  FakeDriver fake;
  {
    const auto device = device_of(fake);
    DeviceMemory memory = std::move(device->allocate(64)).value();
    DeviceMemory moved = std::move(memory);
    moved = std::move(device->allocate(65)).value();
    EXPECT_EQ(fake.count("cuMemFree_v2"), 1);
    EXPECT_EQ(moved.size(), 65U);
  }
  EXPECT_TRUE(fake.live.empty());
  EXPECT_TRUE(fake.mistakes.empty());
}

TEST(CudaDevice, ANeighbourDisturbsAndIsReleased) {
  FakeDriver fake;
  {
    const auto device = device_of(fake);
    EXPECT_TRUE(device->disturb(0).ok());
    EXPECT_EQ(fake.count("cuStreamCreate"), 0);
    EXPECT_TRUE(device->disturb(1).ok());
    EXPECT_TRUE(device->disturb(1).ok());
    EXPECT_EQ(fake.count("cuStreamCreate"), 1);
    EXPECT_GT(fake.count("cuMemsetD8Async"), 0);
  }
  EXPECT_TRUE(fake.live.empty());
  EXPECT_TRUE(fake.mistakes.empty());
}

TEST(PinnedMemory, IsGivenBack) {
  FakeDriver fake;
  {
    const auto device = device_of(fake);
    const auto memory = device->allocate_pinned(4096);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(memory.value().size(), 4096U);
    EXPECT_EQ(std::move(device->allocate_pinned(0)).value().data(), nullptr);
    fake.fail_symbol = "cuMemHostAlloc";
    EXPECT_FALSE(device->allocate_pinned(4096).ok());
  }
  EXPECT_TRUE(fake.live.empty());
  EXPECT_TRUE(fake.mistakes.empty());
}

TEST(CudaAddressRange, GrowsInItsPlaceByWholeGranules) {
  FakeDriver fake;
  {
    const auto device = device_of(fake);
    auto reserved = CudaAddressRange::reserve(*device, 5 * fake.granule - 1);
    ASSERT_TRUE(reserved.ok()) << reserved.error().text();
    CudaAddressRange& range = *reserved.value();
    EXPECT_EQ(range.capacity(), 5 * fake.granule);
    EXPECT_EQ(range.size(), 0U);
    EXPECT_TRUE(fake.mapped.empty());
    std::byte* const data = range.data();
    ASSERT_TRUE(range.grow_to(1).ok());
    EXPECT_EQ(range.size(), fake.granule);
    ASSERT_TRUE(range.grow_to(fake.granule).ok());
    EXPECT_EQ(fake.count("cuMemMap"), 1);
    ASSERT_TRUE(range.grow_to(3 * fake.granule + 1).ok());
    EXPECT_EQ(range.size(), 4 * fake.granule);
    EXPECT_EQ(range.data(), data);
    EXPECT_EQ(fake.count("cuMemMap"), 2);
    EXPECT_EQ(fake.count("cuMemSetAccess"), 2);
    EXPECT_EQ(fake.mapped.at(reinterpret_cast<std::uint64_t>(data) + fake.granule), 3 * fake.granule);
    const auto beyond = range.grow_to(5 * fake.granule + 1);
    ASSERT_FALSE(beyond.ok());
    EXPECT_EQ(beyond.error().code(), ErrorCode::out_of_range);
    EXPECT_EQ(range.size(), 4 * fake.granule);
  }
  EXPECT_TRUE(fake.mapped.empty());
  EXPECT_TRUE(fake.live.empty());
  EXPECT_TRUE(fake.mistakes.empty());
}

TEST(CudaAddressRange, StaysAsItWasWhereItCannotGrow) {
  for (const char* symbol : {"cuMemCreate", "cuMemMap", "cuMemRelease", "cuMemSetAccess"}) {
    FakeDriver fake;
    {
      const auto device = device_of(fake);
      auto range = CudaAddressRange::reserve(*device, 4 * fake.granule);
      ASSERT_TRUE(range.ok());
      ASSERT_TRUE(range.value()->grow_to(1).ok());
      fake.fail_symbol = symbol;
      EXPECT_FALSE(range.value()->grow_to(fake.granule + 1).ok()) << symbol;
      EXPECT_EQ(range.value()->size(), fake.granule) << symbol;
      EXPECT_EQ(fake.mapped.size(), 1U) << symbol;
      fake.fail_symbol = "";
      EXPECT_TRUE(range.value()->grow_to(fake.granule + 1).ok()) << symbol;
    }
    EXPECT_TRUE(fake.live.empty() && fake.mapped.empty() && fake.mistakes.empty()) << symbol;
  }
}

TEST(CudaAddressRange, OddAnswersAreRefused) {
  FakeDriver fake;
  const auto device = device_of(fake);
  EXPECT_FALSE(CudaAddressRange::reserve(*device, 0).ok());
  EXPECT_FALSE(CudaAddressRange::reserve(*device, ~std::size_t{0}).ok());
  fake.granule = 0;
  EXPECT_FALSE(CudaAddressRange::reserve(*device, 64).ok());
}

}  // namespace
}  // namespace ingot
