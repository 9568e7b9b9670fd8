// The host's heap behind the kernel's interface, for tests: refuses when told to, and says what was not given back.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>

#include "os/memory/allocator.h"

namespace ingot::os {

class TestHeap : public CountingAllocator {
 public:
  TestHeap() : CountingAllocator(Poison::on) {}
  ~TestHeap() { EXPECT_TRUE(expect_no_leak().ok()); }
  int left = 1000;  // allocations that still succeed

 private:
  void* take(std::size_t bytes, std::size_t alignment) override {
    if (left == 0) return nullptr;
    --left;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void give_back(void* block, std::size_t, std::size_t) override { std::free(block); }
};

}  // namespace ingot::os
