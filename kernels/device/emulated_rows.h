// For tests of rows of a device: an emulated one, tensors on it, and a row's results from it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "kernels/contract/variant.h"
#include "machine/gpu/device.h"
#include "tensor/any_view.h"
#include "tensor/view.h"

namespace ingot {

class EmulatedRows {
 public:
  EmulatedRows()
      : device_(std::move(open_device("emulated")).value()),
        queue_(std::move(device_->make_queue()).value()),
        workers_(std::move(Workers::create({.threads = 1})).value()) {}

  // Copies stay until results are taken.
  template <class Element>
  Element* copied(const Element* data, std::size_t count) {
    memory_.push_back(device_->allocate(count * sizeof(Element)).value());
    queue_->copy_in(memory_.back().data(), reinterpret_cast<const std::byte*>(data), count * sizeof(Element));
    return reinterpret_cast<Element*>(memory_.back().data());
  }
  template <class Element>
  View<Element> view(const Element* data, const Shape& shape) {
    return View<Element>(copied(data, static_cast<std::size_t>(element_count(shape))), shape, contiguous_strides(shape),
                         Place::device(0));
  }
  ConstAnyView any_view(const std::vector<std::byte>& data, DType dtype, const Shape& shape) {
    return ConstAnyView(copied(data.data(), data.size()), dtype, shape, contiguous_byte_strides(dtype, shape),
                        Place::device(0));
  }

  // What the row makes of the arguments, in a packed y.
  template <class Op>
  std::vector<float> run(const Variant<Op>& row, const typename Op::Arguments& a) {
    const std::size_t bytes = row.scratch_bytes != nullptr ? row.scratch_bytes(a, 1) : 0;
    const DeviceMemory scratch = device_->allocate(bytes + 64).value();
    Context context{*workers_, {scratch.data(), bytes}, queue_.get()};
    row.run(a, context);
    std::vector<float> y(static_cast<std::size_t>(element_count(a.y.shape())));
    queue_->copy_out(reinterpret_cast<std::byte*>(y.data()), reinterpret_cast<const std::byte*>(a.y.data()),
                     y.size() * sizeof(float));
    const Result<void> done = queue_->wait();
    EXPECT_TRUE(done.ok()) << done.error().text();
    memory_.clear();
    return y;
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Workers> workers_;
  std::vector<DeviceMemory> memory_;
};

inline void expect_same_bits(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
}

}  // namespace ingot
