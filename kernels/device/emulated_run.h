// For tests of this folder: device functions of a test's own source, run on an emulated device.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "machine/gpu/emulated/device.h"
#include "machine/gpu/emulated/order.h"

namespace ingot {

inline const DeviceModule module_of_tests = {"test", nullptr, nullptr};

// What a function of the test's source is to a queue.
#define INGOT_TESTED(name) \
  (::ingot::DeviceFunction{&::ingot::module_of_tests, #name, ::ingot::device::ingot_emulated_##name})

class EmulatedRun : public testing::Test {
 protected:
  // On a device of its own, so that a test may fail more than once.
  template <class Parameters>
  std::string failure(const DeviceFunction& function, const LaunchShape& shape, const Parameters& parameters,
                      int order = 0) {
    const auto device = EmulatedDevice::create({.order = order}).value();
    const auto queue = device->make_queue().value();
    queue->launch(function, shape, parameters);
    const Result<void> result = queue->wait();
    return result.ok() ? std::string() : std::string(result.error().text());
  }

  // What `results` holds after a launch in each of the orders. Parameters name its data.
  template <class Element, class Parameters>
  std::vector<std::vector<Element>> in_all_orders(const DeviceFunction& function, const LaunchShape& shape,
                                                  std::vector<Element>& results, const Parameters& parameters) {
    const std::vector<Element> before = results;
    std::vector<std::vector<Element>> all;
    for (int order = 0; order < emulated::order_count; ++order) {
      results = before;
      EXPECT_EQ(failure(function, shape, parameters, order), "") << "in order " << order;
      all.push_back(results);
    }
    return all;
  }

  // The same bits in all orders, left in `results`.
  template <class Element, class Parameters>
  void run(const DeviceFunction& function, const LaunchShape& shape, std::vector<Element>& results,
           const Parameters& parameters) {
    const auto all = in_all_orders(function, shape, results, parameters);
    for (const std::vector<Element>& each : all) {
      EXPECT_EQ(std::memcmp(each.data(), all[0].data(), each.size() * sizeof(Element)), 0) << function.name;
    }
  }
};

}  // namespace ingot
