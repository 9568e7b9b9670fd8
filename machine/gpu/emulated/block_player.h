// BlockPlayer: plays the threads of a block on one thread of the host. Each runs until it has to wait, or ends.
//
// A thread that ends leaves its fiber to the next one, so a source without meetings costs no switch a thread. One that
// waits hands over straight to who is next: there is no scheduler in between to return to.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "machine/gpu/device_function.h"
#include "machine/gpu/emulated/fiber.h"
#include "machine/gpu/emulated/order.h"
#include "machine/gpu/emulated/shared_memory.h"
#include "machine/gpu/emulated/thread.h"

namespace ingot::emulated {

struct Launch {
  const DeviceFunction* function;
  LaunchShape shape;
  const void* parameters;
  std::size_t parameter_bytes;
};

class BlockPlayer {
 public:
  static Result<std::unique_ptr<BlockPlayer>> create();

  // All blocks, one after another. The first failure ends it.
  // Preconditions: 1 to 1,024 threads, 1 to 2^31 - 1 blocks, at most most_shared_bytes of shared memory.
  Result<void> play(const Launch& launch, const Order& order);

  // For the functions of thread.h, on a fiber of this player.
  void meet_block();
  LaneSlot* own_lane_slot();
  LaneSlot* meet_warp(Meeting meeting, JoinLanes join);
  void copy_later(void* to, const void* from, std::size_t read_bytes, std::size_t written_bytes);
  void close_copy_group();
  void await_copies(std::size_t groups_left_open);
  [[noreturn]] void fail(const Error& error);
  Error error_here(std::string_view expected, std::uint64_t found) const;

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t read_bytes;
    std::size_t written_bytes;
    std::size_t group;
    void make() const;
  };
  struct Thread {
    Fiber* fiber = nullptr;  // null: it has not begun, or never had to wait
    Meeting waits_at = Meeting::none;
    bool has_ended = false;
    bool meets_in_second_half = false;
    std::size_t copy_group = 0;
    std::vector<Copy> copies;  // not yet made
  };
  struct Warp {
    std::uint32_t arrived = 0;
    Meeting meeting = Meeting::none;
    std::uint32_t first_to_come = 0;
    // Meetings use one half after the other: who comes to the next may not disturb those who still read the last.
    std::array<std::array<LaneSlot, lanes_per_warp>, 2> slots;
  };
  // Threads that may run, in order. Each is there once at most.
  class Ready {
   public:
    bool empty() const { return count_ == 0; }
    std::uint16_t take();
    void append(std::uint16_t thread) { ring_[(begin_ + count_++) % most_threads] = thread; }
    void prepend(std::uint16_t thread);
    void replace(std::span<const std::uint16_t> threads);

   private:
    std::array<std::uint16_t, most_threads> ring_;
    std::uint32_t begin_ = 0;
    std::uint32_t count_ = 0;
  };

  explicit BlockPlayer(FiberStacks stacks) : stacks_(std::move(stacks)), threads_(most_threads) {}
  static void run_fiber();
  void begin_launch(const Launch& launch, const Order& order);
  void play_block();
  void end_thread();
  void pause();
  void hand_over(Fiber& self, std::uint16_t thread);
  Fiber& fresh_fiber();
  Result<Fiber*> open_fiber();
  Error error_at(std::uint32_t thread, std::string_view expected, std::uint64_t found) const;
  Error apart_error(std::uint32_t waiting, std::uint32_t missing) const;
  Error stuck_error() const;
  void forget_fibers();
  Thread& running() { return threads_[position.thread]; }

  FiberStacks stacks_;
  SharedMemory shared_;
  Launch launch_{};
  std::optional<Order> order_;
  std::vector<std::uint16_t> thread_order_;
  std::array<std::uint8_t, lanes_per_warp> lane_order_{};

  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  Ready ready_;
  std::uint32_t arrived_ = 0;  // at the barrier of the block
  std::uint32_t ended_ = 0;
  std::optional<Error> error_;

  Fiber host_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;  // they wait for a thread to begin
  Fiber* current_ = nullptr;
};

}  // namespace ingot::emulated
