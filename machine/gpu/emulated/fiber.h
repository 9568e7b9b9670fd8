// Fiber: a stack of its own on which a function runs until it hands over to another. No system call is made for it,
// which is what ucontext costs.
//
// The address sanitizer is told of every switch. The thread sanitizer is not: to it a fiber is a thread, of which g++
// 12 has no thousand on aarch64. Fibers here never run at once, so it has no races between them to find; the calls that
// it shows with a race elsewhere may be another fiber's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace ingot::emulated {

class Fiber {
 public:
  // What runs already: the stack of the host's thread.
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // From now on `stack` belongs to this fiber, and entry() runs there when it is first switched to. It must begin with
  // arrive() and never return. What ran on the fiber before is forgotten as it stands.
  void prepare(std::span<std::byte> stack, void (*entry)());

  // From the fiber that runs, which this one must be, to `next`; returns when somebody switches back.
  void switch_to(Fiber& next);
  static void arrive();

 private:
  void* stack_pointer_ = nullptr;
  // What the address sanitizer wants to know: the bounds, and a shadow of the frames.
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  void* frames_ = nullptr;
};

// Stacks of one size, each behind a page that nobody may touch: one that overflows faults at once.
class FiberStacks {
 public:
  static Result<FiberStacks> reserve(std::size_t count);
  FiberStacks(FiberStacks&& other) noexcept;
  FiberStacks& operator=(FiberStacks&& other) = delete;
  ~FiberStacks();

  // Usable from now on. Fails where the system gives no more memory. Precondition: index < count.
  Result<std::span<std::byte>> open(std::size_t index);

 private:
  FiberStacks(std::byte* mapping, std::size_t bytes, std::size_t page)
      : mapping_(mapping), bytes_(bytes), page_(page) {}
  std::byte* mapping_;
  std::size_t bytes_;
  std::size_t page_;
};

}  // namespace ingot::emulated
