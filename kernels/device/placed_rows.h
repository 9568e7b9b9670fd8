// For tests of families: rows of numbers on an emulated device, at a multiple of 16 bytes or anywhere else, and that
// where they lie does not show in a result's bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/contract/variant.h"
#include "machine/gpu/device.h"
#include "tensor/view.h"

namespace ingot {

class PlacedRows : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    auto opened = open_device("emulated");
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    device_ = std::move(opened).value();
    queue_ = device_->make_queue().value();
    workers_ = Workers::create({.threads = 1}).value();
  }

  // Numbers on the device, so many of them behind where memory begins.
  View<float> placed(const std::vector<float>& values, const Shape& shape, std::int64_t shift) {
    memory_.push_back(device_->allocate((values.size() + static_cast<std::size_t>(shift)) * sizeof(float)).value());
    float* const at = reinterpret_cast<float*>(memory_.back().data()) + shift;
    queue_->copy_in(reinterpret_cast<std::byte*>(at), reinterpret_cast<const std::byte*>(values.data()),
                    values.size() * sizeof(float));
    return View<float>(at, shape, contiguous_strides(shape), Place::device(0));
  }
  // The same ones each time.
  View<float> numbers(const Shape& shape, std::int64_t shift) {
    RandomNumbers random(3);
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = static_cast<float>(random.normal());
    return placed(values, shape, shift);
  }

  // What a row of a table makes of arguments(shift).
  template <class Op, class MakeArguments>
  std::vector<float> result(const Variant<Op>& variant, MakeArguments&& arguments, std::int64_t shift) {
    const typename Op::Arguments a = arguments(shift);
    Context context{*workers_, {}, queue_.get()};
    variant.run(a, context);
    std::vector<float> y(static_cast<std::size_t>(element_count(a.y.shape())));
    queue_->copy_out(reinterpret_cast<std::byte*>(y.data()), reinterpret_cast<const std::byte*>(a.y.data()),
                     y.size() * sizeof(float));
    const Result<void> done = queue_->wait();
    EXPECT_TRUE(done.ok()) << done.error().text();
    memory_.clear();
    return y;
  }

  template <class Op, class MakeArguments>
  void expect_same_bits_anywhere(const Variant<Op>& variant, MakeArguments&& arguments) {
    const std::vector<float> aligned = result(variant, arguments, 0);
    const std::vector<float> shifted = result(variant, arguments, 1);
    EXPECT_EQ(std::memcmp(aligned.data(), shifted.data(), aligned.size() * sizeof(float)), 0) << Op::name;
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Workers> workers_;
  std::vector<DeviceMemory> memory_;
};

// Lengths that each kind of team walks: a warp, a block, a large one, one with shared memory, one that keeps nothing.
inline const auto lengths_of_all_teams = testing::Values(1000, 4000, 8000, 13000, 20000, 41000);

}  // namespace ingot
