#include "machine/gpu/cuda/driver.h"

#include <gtest/gtest.h>

#include <set>

#include "machine/gpu/cuda/fake_driver.h"
#include "machine/gpu/device.h"

namespace ingot {
namespace {

Result<cuda::Driver> driver_without(const FakeDriver& fake, std::string_view missing, int needed = 13000) {
  return cuda::driver_from([&](const char* symbol) { return fake.lookup(symbol, missing); }, needed);
}

TEST(CudaDriver, EveryFunctionOfTheListIsFoundByItsOwnName) {
  cuda::DriverFunctions functions;
  std::set<std::string_view> names;
  int count = 0;
  cuda::for_each_function(functions, [&](const auto& function) {
    ++count;
    names.insert(function.symbol);
    EXPECT_EQ(function.call, nullptr) << function.symbol;
  });
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
  FakeDriver fake;
  auto found = driver_without(fake, "");
  ASSERT_TRUE(found.ok()) << found.error().text();
  cuda::for_each_function(found.value().functions,
                          [](const auto& function) { EXPECT_NE(function.call, nullptr) << function.symbol; });
}

TEST(CudaDriver, AFunctionThatIsMissingIsNamed) {
  cuda::DriverFunctions functions;
  FakeDriver fake;
  cuda::for_each_function(functions, [&](const auto& function) {
    const auto found = driver_without(fake, function.symbol);
    ASSERT_FALSE(found.ok()) << function.symbol;
    EXPECT_NE(found.error().text().find(function.symbol), std::string_view::npos) << found.error().text();
  });
}

TEST(CudaDriver, AnOldDriverIsToldByBothVersionsAlsoWhereItLacksFunctions) {
  FakeDriver fake;
  fake.version = 12040;
  const auto found = driver_without(fake, "cuFuncLoad");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().text(),
            "expected an NVIDIA driver for CUDA 13.0 or later, which this program's device code needs, found one for "
            "CUDA 12.4: update the driver");
  EXPECT_TRUE(driver_without(fake, "", 12040).ok());
}

TEST(CudaDriver, AnErrorNamesTheCallAndWhatTheDriverSays) {
  FakeDriver fake;
  const cuda::Driver driver = fake.driver();
  EXPECT_EQ(driver.error_of("cuMemAlloc_v2", cuda::Status::out_of_memory).text(),
            "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(driver.error_of("cuMemAlloc_v2", cuda::Status::out_of_memory).code(), ErrorCode::out_of_memory);
  EXPECT_EQ(driver.error_of("cuInit", cuda::Status{9999}).text(), "cuInit: status 9999, which has no name");
}

// This program links no driver.
TEST(CudaDriver, AProgramThatOpensNoDriverSaysHowToGetOneThatDoes) {
  EXPECT_FALSE(cuda::opens_drivers());
  for (const char* name : {"cuda", "cuda:3"}) {
    const auto device = open_device(name);
    ASSERT_FALSE(device.ok());
    EXPECT_NE(device.error().text().find("make gpu"), std::string_view::npos) << device.error().text();
  }
}

TEST(CudaDriver, NamesOfDevicesAreRefusedForWhatTheyAre) {
  for (const char* name : {"", "gpu", "cud", "cuda0", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "cpu"}) {
    const auto device = open_device(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.error().code(), ErrorCode::invalid_argument) << name << ": " << device.error().text();
  }
}

}  // namespace
}  // namespace ingot
