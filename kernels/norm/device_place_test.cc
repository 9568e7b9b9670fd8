// Whose memory a call's tensors lie in is checked before anything runs: a device's function that got the host's
// addresses would end the device.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/contract/run.h"
#include "kernels/norm/family.h"
#include "kernels/norm/rms_norm.h"

namespace ingot {
namespace {

class DevicePlace : public ::testing::Test {
 protected:
  RmsNorm::Arguments arguments_on(Place x, Place others) {
    RmsNorm::Arguments arguments;
    arguments.x = View<const float>(numbers_.data(), {2, 8}, {8, 1}, x);
    arguments.gamma = View<const float>(numbers_.data(), {8}, {1}, others);
    arguments.y = View<float>(result_.data(), {2, 8}, {8, 1}, others);
    return arguments;
  }
  std::string refused(const Processor& processor, const RmsNorm::Arguments& arguments) {
    const KernelTable table = KernelTable::select(norm_operations(), processor, {}).value();
    const std::unique_ptr<Workers> workers = Workers::create({.threads = 1}).value();
    Context context{*workers, {}};
    const Result<void> done = run<RmsNorm>(table, arguments, context);
    return done.ok() ? "" : std::string(done.error().text());
  }

  const Processor device_ = Processor::device({Feature::sm_80}, /*is_emulated=*/true);
  std::vector<float> numbers_ = std::vector<float>(16, 1);
  std::vector<float> result_ = std::vector<float>(16);
};

TEST_F(DevicePlace, ADevicesRowDoesNotTakeTheHostsMemory) {
  EXPECT_EQ(refused(device_, arguments_on(Place::host, Place::host)),
            "norm.rms_norm C0: expected tensors on a device, where the table's variants run, found them on the host");
}

TEST_F(DevicePlace, AHostsRowDoesNotTakeADevicesMemory) {
  EXPECT_EQ(refused(FeatureSet(), arguments_on(Place::device(0), Place::device(0))),
            "norm.rms_norm C0: expected tensors on the host, where the table's variants run, found them on device 0");
}

TEST_F(DevicePlace, AllTensorsLieInOnePlace) {
  EXPECT_EQ(refused(device_, arguments_on(Place::host, Place::device(0))),
            "norm.rms_norm C0: expected all tensors in one place, found x on the host and gamma on device 0");
}

}  // namespace
}  // namespace ingot
