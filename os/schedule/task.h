// Task<Value>: the kernel's async function. It starts when it is awaited or spawned, and gives a Result<Value>.
//
//   Task<int> answer(Allocator& heap, Channel<int, 4>& questions) {   // the heap comes first: the frame lies there
//     const Result<int> question = co_await questions.receive();
//     if (!question.ok()) co_return question.error();
//     co_return question.value() + 1;
//   }
//   const Result<int> result = co_await answer(heap, questions);      // an error too if there was no memory for it
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/result.h"
#include "os/memory/allocator.h"
#include "os/schedule/executor.h"

namespace ingot::os {

// What every task's promise has, whatever it returns.
class TaskPromise : public Resumable {
 public:
  // The allocator is kept before the frame, for the time when the frame is freed and its arguments are gone.
  template <class... Arguments>
  static void* operator new(std::size_t bytes, Allocator& allocator, Arguments&...) noexcept {
    return allocate(bytes, allocator);
  }
  // For member functions and lambdas, whose object comes first.
  template <class Object, class... Arguments>
  static void* operator new(std::size_t bytes, Object&, Allocator& allocator, Arguments&...) noexcept {
    return allocate(bytes, allocator);
  }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    auto* block = static_cast<std::byte*>(frame) - header_bytes;
    (*reinterpret_cast<Allocator**>(block))->free(block, bytes + header_bytes);
  }

  std::suspend_always initial_suspend() noexcept { return {}; }
  // Goes on with whoever awaited it; a spawned task has nobody and frees itself.
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) noexcept {
      const std::coroutine_handle<> awaiting = finished.promise().awaiting_;
      if (awaiting) return awaiting;
      finished.destroy();
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { __builtin_trap(); }  // nothing throws

  Executor* executor = nullptr;  // where it goes on after waiting

 private:
  template <class>
  friend class Task;

  static constexpr std::size_t header_bytes = Allocator::default_alignment;
  // Never inlined: g++ 12 takes the operator delete above for the heap's own and, where it sees both, complains that it
  // is given a block's middle.
  [[gnu::noinline]] static void* allocate(std::size_t bytes, Allocator& allocator) noexcept {
    const Result<void*> block = allocator.allocate(bytes + header_bytes);
    if (!block.ok()) return nullptr;
    *static_cast<Allocator**>(block.value()) = &allocator;
    return static_cast<std::byte*>(block.value()) + header_bytes;
  }

  std::coroutine_handle<> awaiting_;
};

template <class Value>
class [[nodiscard]] Task {
 public:
  struct promise_type : TaskPromise {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static Task get_return_object_on_allocation_failure() { return Task(nullptr); }
    // A value or an error. A task without a value ends with `co_return {}`.
    void return_value(Result<Value> outcome) { result.emplace(std::move(outcome)); }

    std::optional<Result<Value>> result;
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  // Precondition: it has not started, or it has finished. While it waits, others point into it.
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // False when there was no memory for it.
  bool ok() const { return static_cast<bool>(handle_); }

  // Lets it run on an executor on its own; it frees itself at its end, and its result with it.
  static Result<void> spawn(Executor& executor, Task task) {
    if (!task.ok()) return no_memory();
    const std::coroutine_handle<promise_type> handle = std::exchange(task.handle_, nullptr);
    handle.promise().executor = &executor;
    handle.promise().handle = handle;
    executor.schedule(handle.promise());
    return {};
  }

  bool await_ready() const { return !ok(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) {
    handle_.promise().awaiting_ = awaiting;
    handle_.promise().executor = awaiting.promise().executor;
    return handle_;
  }
  Result<Value> await_resume() {
    if (!ok()) return no_memory();
    return std::move(*handle_.promise().result);
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  static Error no_memory() { return Error::of(ErrorCode::out_of_memory, "expected memory for a task, found none"); }

  std::coroutine_handle<promise_type> handle_;
};

}  // namespace ingot::os
