// Tasks: on the CPU's own executor, woken by timers, by channels and by interrupt handlers; a thread waits with a
// deadline; frames come from the kernel's heap and go back to it.
//
// boot-test: success
// boot-test: expect order: b a c
// boot-test: expect the handler's words: 1 2 3
// boot-test: expect no memory: out of memory
// boot-test: expect deadline: passed, not early
// boot-test: expect condition: held before the deadline
#include "os/boot/kernel.h"
#include "os/schedule/channel.h"
#include "os/schedule/kernel_thread.h"
#include "os/schedule/semaphore.h"
#include "os/schedule/sleep.h"
#include "os/schedule/task.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr Nanoseconds millisecond(1'000'000);
constexpr std::size_t vector = 0x90;

struct Everybody {
  Kernel& kernel;
  FixedText<64> order{};
  Channel<int, 4> words{};
  Semaphore done{0};
};

void require(Result<void> result) {
  if (!result.ok()) panic(result.error());
}

Task<void> sleeper(Allocator&, Everybody& shared, char letter, Nanoseconds deadline) {
  co_await SleepUntil(deadline);
  if (shared.kernel.now() < deadline) panic("expected to sleep until ", deadline.count(), ", found less");
  shared.order.append(' ').append(letter);
  shared.done.release();
  co_return {};
}

void sleep_as_tasks(Kernel& kernel, Everybody& shared) {
  Allocator& heap = kernel.memory->heap();
  const Nanoseconds now = kernel.now();  // far enough apart for a slow host
  require(Task<void>::spawn(current_tasks(), sleeper(heap, shared, 'a', now + millisecond * 60)));
  require(Task<void>::spawn(current_tasks(), sleeper(heap, shared, 'b', now + millisecond * 30)));
  require(Task<void>::spawn(current_tasks(), sleeper(heap, shared, 'c', now + millisecond * 90)));
  for (int i = 0; i < 3; ++i) shared.done.acquire();
  kernel.log.information("order:", shared.order.view());
}

// One task awaits another, which waits for what a handler sends.
Task<int> next_word(Allocator&, Everybody& shared) { co_return co_await shared.words.receive(); }
Task<void> listen(Allocator& heap, Everybody& shared) {
  FixedText<64> heard;
  for (int i = 0; i < 3; ++i) {
    const Result<int> word = co_await next_word(heap, shared);
    if (!word.ok()) co_return word.error();
    heard.append_all(" ", word.value());
  }
  shared.kernel.log.information("the handler's words:", heard.view());
  shared.done.release();
  co_return {};
}

void hear_a_handler(Kernel& kernel, Everybody& shared) {
  const auto handler = [](void* context, arch::TrapFrame&) {
    static int word = 0;
    int value = ++word;
    static_cast<Channel<int, 4>*>(context)->try_send(value);
  };
  require(kernel.interrupts.claim(vector, {handler, &shared.words}));
  require(Task<void>::spawn(current_tasks(), listen(kernel.memory->heap(), shared)));
  for (int i = 0; i < 3; ++i) {
    current_scheduler().yield();
    asm volatile("int %0" : : "i"(vector) : "memory");  // assembly: an interrupt now
  }
  shared.done.acquire();
  kernel.interrupts.release(vector);
}

class EmptyHeap final : public Allocator {
  using Allocator::allocate, Allocator::free;
  Result<void*> allocate(std::size_t, std::size_t) override {
    return Error::of(ErrorCode::out_of_memory, "expected memory, found none");
  }
  void free(void*, std::size_t, std::size_t) override {}
  HeapStatistics statistics() const override { return {}; }
};

struct Timed {
  WaitQueue queue;
  Atomic<bool> ready;
};

void wait_with_deadline(Kernel& kernel) {
  Timed timed;
  const auto ready = [&] { return timed.ready.load(MemoryOrder::acquire); };
  const Nanoseconds deadline = kernel.now() + millisecond * 2;
  if (timed.queue.wait_until(ready, deadline)) panic("expected the deadline to pass, found the condition true");
  if (kernel.now() < deadline) panic("expected to wait until ", deadline.count(), ", found ", kernel.now().count());
  kernel.log.information("deadline: passed, not early");
  const auto wake = [](Timed& it) {
    it.ready.store(true, MemoryOrder::release);
    it.queue.wake_one();
  };
  Result<KernelThread> waker = spawn(kernel, "waker", wake, timed);
  if (!waker.ok()) panic(waker.error());
  if (!timed.queue.wait_until(ready, kernel.now() + millisecond * 60'000)) panic("expected true, found the deadline");
  kernel.log.information("condition: held before the deadline");
}

}  // namespace

void run_payload(Kernel& kernel) {
  Everybody shared{kernel};
  sleep_as_tasks(kernel, shared);
  hear_a_handler(kernel, shared);
  EmptyHeap nothing;
  const Result<void> spawned = Task<void>::spawn(current_tasks(), sleeper(nothing, shared, 'd', kernel.now()));
  if (!spawned.ok()) kernel.log.information("no memory: ", spawned.error());
  wait_with_deadline(kernel);
}

}  // namespace ingot::os
