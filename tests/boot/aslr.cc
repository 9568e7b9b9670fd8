// The kernel runs where nobody could have known, and what it says about its place is true..
//
// boot-test: success
// boot-test: boots 5
// boot-test: vary placed: virtual
// boot-test: vary placed: physical
// boot-test: vary placed: window
// boot-test: expect placed: virtual
// boot-test: expect placed: the window shows this text
#include <string_view>

#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

// Each an address that the linker wrote into the image, and the move had to change.
class Fruit {
 public:
  virtual std::string_view name() const = 0;
};
class Apple : public Fruit {
  std::string_view name() const override { return "apple"; }
};
constinit const Apple apple;
constinit const Fruit* volatile fruit = &apple;

}  // namespace

void run_payload(Kernel& kernel) {
  const arch::Platform& platform = kernel.platform;
  kernel.log.information("placed: virtual ", platform.kernel_base());
  kernel.log.information("placed: physical ", platform.physical_kernel_base());
  kernel.log.information(
      "placed: window ",
      VirtualAddress(reinterpret_cast<std::uint64_t>(platform.window().at<char>(PhysicalAddress(0)))));
  if (fruit->name() != "apple") panic("expected an apple, found ", fruit->name());
  static constexpr char text[] = "this text";
  const std::uint64_t offset = VirtualAddress(reinterpret_cast<std::uint64_t>(text)) - platform.kernel_base();
  kernel.log.information("placed: the window shows ",
                         std::string_view(platform.window().at<char>(platform.physical_kernel_base() + offset)));
}

}  // namespace ingot::os
