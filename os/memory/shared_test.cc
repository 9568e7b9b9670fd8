#include "os/memory/shared.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "os/schedule/test_heap.h"

namespace ingot::os {
namespace {

class Base : public Shared {
 public:
  virtual int number() const = 0;

 protected:
  ~Base() = default;
};
class Derived final : public Base {
 public:
  explicit Derived(int* destroyed) : destroyed_(destroyed) {}
  ~Derived() { ++*destroyed_; }
  int number() const override { return 7; }

 private:
  int* destroyed_;
  std::uint64_t padding_[5]{};  // its size is not its base's
};

TEST(Shared, TheLastOwnerDestroys) {
  TestHeap heap;
  int destroyed = 0;
  {
    Reference<Base> base = make_reference<Derived>(heap, &destroyed).value();
    Reference<Base> second = base;
    EXPECT_EQ(base->references(), 2u);
    EXPECT_EQ(second->number(), 7);
    base.reset();
    EXPECT_FALSE(base);
    EXPECT_EQ(destroyed, 0);
    second = second;
    base = std::move(second);
    EXPECT_EQ(base->references(), 1u);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Shared, NoRoomIsAnError) {
  TestHeap heap;
  heap.left = 0;
  int destroyed = 0;
  EXPECT_FALSE(make_reference<Derived>(heap, &destroyed).ok());
  EXPECT_EQ(destroyed, 0);
}

TEST(Shared, CountsAcrossThreads) {
  TestHeap heap;
  int destroyed = 0;
  Reference<Base> base = make_reference<Derived>(heap, &destroyed).value();
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([base] {
        for (int round = 0; round < 1000; ++round) Reference<Base> copy = base;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(base->references(), 1u);
  EXPECT_EQ(destroyed, 0);
  base.reset();
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace ingot::os
