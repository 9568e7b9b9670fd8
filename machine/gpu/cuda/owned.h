// What the driver gave and wants back. Releasing needs the context, which may not be this thread's current one.
#pragma once

#include <utility>

#include "machine/gpu/cuda/driver.h"

namespace ingot::cuda {

// A device's primary context: all that is made of the device belongs to it, and every thread enters it before a call.
struct Context {
  Driver driver;
  DeviceHandle device = 0;
  ContextHandle handle = nullptr;

  Result<void> enter() const { return driver.call(driver.functions.context_enter, handle); }

  // Enters the context and calls a function of the table.
  template <class... Parameters, class... Arguments>
  Result<void> call(DriverFunction<Parameters...> DriverFunctions::* function, Arguments... arguments) const {
    TRY(enter());
    return driver.call(driver.functions.*function, arguments...);
  }

  // Calls a function that gives something back, also where the context could not be entered.
  template <class... Parameters, class... Arguments>
  Result<void> release(DriverFunction<Parameters...> DriverFunctions::* function, Arguments... arguments) const {
    (void)enter();
    return driver.call(driver.functions.*function, arguments...);
  }
};

// The context must outlive it. A failure to release is nobody's to hear: it follows a failure that was told.
template <class Value, DriverFunction<Value> DriverFunctions::* Release>
class Owned {
 public:
  Owned() = default;
  Owned(const Context& context, Value value) : context_(&context), value_(value) {}
  Owned(Owned&& other) noexcept { swap(other); }
  Owned& operator=(Owned&& other) noexcept {
    Owned(std::move(other)).swap(*this);
    return *this;
  }
  ~Owned() {
    if (context_ != nullptr) (void)context_->release(Release, value_);
  }

  Value value() const { return value_; }
  bool is_present() const { return context_ != nullptr; }

 private:
  void swap(Owned& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(value_, other.value_);
  }
  const Context* context_ = nullptr;
  Value value_{};
};

using Stream = Owned<StreamHandle, &DriverFunctions::stream_destroy>;
using Module = Owned<ModuleHandle, &DriverFunctions::module_unload>;

}  // namespace ingot::cuda
