#include "machine/gpu/emulated/block_player.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ingot::emulated {

constinit thread_local Position position;

std::uint16_t BlockPlayer::Ready::take() {
  const std::uint16_t thread = ring_[begin_];
  begin_ = (begin_ + 1) % most_threads;
  --count_;
  return thread;
}

void BlockPlayer::Ready::prepend(std::uint16_t thread) {
  begin_ = (begin_ + most_threads - 1) % most_threads;
  ring_[begin_] = thread;
  ++count_;
}

void BlockPlayer::Ready::replace(std::span<const std::uint16_t> threads) {
  std::ranges::copy(threads, ring_.begin());
  begin_ = 0;
  count_ = static_cast<std::uint32_t>(threads.size());
}

Result<std::unique_ptr<BlockPlayer>> BlockPlayer::create() {
  return std::unique_ptr<BlockPlayer>(new BlockPlayer(TRY(FiberStacks::reserve(most_threads))));
}

Result<void> BlockPlayer::play(const Launch& launch, const Order& order) {
  TRY(shared_.begin_launch(launch.shape.shared_bytes));
  if (idle_.empty()) idle_.push_back(TRY(open_fiber()));
  begin_launch(launch, order);
  const LaunchShape& shape = launch.shape;
  const BlockLine line = order.line_up(std::uint64_t{shape.blocks} * shape.blocks_y * shape.blocks_z);
  for (std::uint64_t place = 0; place < line.count; ++place) {
    const std::uint64_t block = line.at(place);
    position.block[0] = static_cast<std::uint32_t>(block % shape.blocks);
    position.block[1] = static_cast<std::uint32_t>(block / shape.blocks % shape.blocks_y);
    position.block[2] = static_cast<std::uint32_t>(block / shape.blocks / shape.blocks_y);
    play_block();
    if (!error_ && !shared_.is_tail_whole()) {
      error_ = error_here("expected nothing written behind the shared memory that was asked for, bytes of it",
                          shape.shared_bytes);
    }
    if (error_) break;
  }
  position = {};
  if (!error_) return {};
  forget_fibers();
  return *std::exchange(error_, std::nullopt);
}

void BlockPlayer::begin_launch(const Launch& launch, const Order& order) {
  const LaunchShape& shape = launch.shape;
  launch_ = launch;
  order_ = order;
  thread_order_.resize(shape.threads);
  order.arrange(thread_order_);
  order.arrange_lanes(lane_order_);
  warps_.resize((shape.threads + lanes_per_warp - 1) / lanes_per_warp);
  position = {};
  position.threads = shape.threads;
  position.blocks[0] = shape.blocks;
  position.blocks[1] = shape.blocks_y;
  position.blocks[2] = shape.blocks_z;
  position.dynamic_shared = shared_.data();
  position.parameter_bytes = launch.parameter_bytes;
  position.player = this;
}

void BlockPlayer::play_block() {
  shared_.begin_block();
  for (std::uint32_t thread = 0; thread < launch_.shape.threads; ++thread) {
    Thread& each = threads_[thread];
    each.fiber = nullptr;
    each.waits_at = Meeting::none;
    each.has_ended = false;
    each.meets_in_second_half = false;
    each.copies.clear();
  }
  for (Warp& warp : warps_) warp.arrived = 0;
  arrived_ = 0;
  ended_ = 0;
  ready_.replace(thread_order_);
  hand_over(host_, ready_.take());
}

// What every fiber runs, one thread after another.
void BlockPlayer::run_fiber() {
  Fiber::arrive();
  for (;;) {
    BlockPlayer& player = *position.player;
    player.launch_.function->emulated(player.launch_.parameters);
    player.end_thread();
  }
}

void BlockPlayer::end_thread() {
  running().has_ended = true;
  running().fiber = nullptr;
  ++ended_;
  Fiber& self = *current_;
  if (!ready_.empty()) {
    const std::uint16_t next = ready_.take();
    position.thread = next;
    if (threads_[next].fiber == nullptr) return;  // it begins here, where this one ended
    idle_.push_back(&self);
    current_ = threads_[next].fiber;
    self.switch_to(*current_);
    return;
  }
  if (ended_ < launch_.shape.threads) fail(stuck_error());
  idle_.push_back(&self);
  self.switch_to(host_);
}

// Until the thread is taken from the ready ones.
void BlockPlayer::pause() {
  if (ready_.empty()) fail(stuck_error());
  const std::uint16_t next = ready_.take();
  if (next == position.thread) return;
  Fiber& self = *current_;
  running().fiber = &self;
  hand_over(self, next);
}

void BlockPlayer::hand_over(Fiber& self, std::uint16_t thread) {
  position.thread = thread;
  Fiber* fiber = threads_[thread].fiber;
  current_ = fiber != nullptr ? fiber : &fresh_fiber();
  self.switch_to(*current_);
}

void BlockPlayer::meet_block() {
  running().waits_at = Meeting::block_barrier;
  if (++arrived_ == launch_.shape.threads) {
    arrived_ = 0;
    ready_.replace(thread_order_);
  }
  pause();
  running().waits_at = Meeting::none;
}

LaneSlot* BlockPlayer::own_lane_slot() {
  Warp& warp = warps_[position.thread / lanes_per_warp];
  return &warp.slots[running().meets_in_second_half ? 1 : 0][position.thread % lanes_per_warp];
}

LaneSlot* BlockPlayer::meet_warp(Meeting meeting, JoinLanes join) {
  const std::uint32_t first = position.thread / lanes_per_warp * lanes_per_warp;
  Warp& warp = warps_[first / lanes_per_warp];
  if (first + lanes_per_warp > launch_.shape.threads) {
    fail(error_here("expected 32 lanes where a warp meets, found", launch_.shape.threads - first));
  }
  Thread& self = running();
  LaneSlot* slots = warp.slots[self.meets_in_second_half ? 1 : 0].data();
  self.meets_in_second_half = !self.meets_in_second_half;
  self.waits_at = meeting;
  if (warp.arrived == 0) {
    warp.meeting = meeting;
    warp.first_to_come = position.thread;
  }
  if (warp.meeting != meeting) fail(apart_error(warp.first_to_come, position.thread));
  if (++warp.arrived == lanes_per_warp) {
    warp.arrived = 0;
    if (join != nullptr) join(slots);
    for (std::uint32_t place = 0; place < lanes_per_warp; ++place) {
      if (order_->lets_warps_go_on()) {
        ready_.prepend(static_cast<std::uint16_t>(first + lane_order_[lanes_per_warp - 1 - place]));
      } else {
        ready_.append(static_cast<std::uint16_t>(first + lane_order_[place]));
      }
    }
  }
  pause();
  self.waits_at = Meeting::none;
  return slots;
}

Fiber& BlockPlayer::fresh_fiber() {
  if (idle_.empty()) {
    const Result<Fiber*> fiber = open_fiber();
    if (!fiber.ok()) fail(fiber.error());
    return *fiber.value();
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

Result<Fiber*> BlockPlayer::open_fiber() {
  const std::span<std::byte> stack = TRY(stacks_.open(fibers_.size()));
  fibers_.push_back(std::make_unique<Fiber>());
  fibers_.back()->prepare(stack, run_fiber);
  return fibers_.back().get();
}

void BlockPlayer::fail(const Error& error) {
  error_ = error;
  current_->switch_to(host_);
  __builtin_trap();  // nobody goes back to a block that failed
}

// Frames of threads that never came to their end are given up as they are: device sources own nothing.
void BlockPlayer::forget_fibers() {
  idle_.clear();
  fibers_.clear();
}

void BlockPlayer::Copy::make() const {
  std::memcpy(to, from, read_bytes);
  std::memset(static_cast<std::byte*>(to) + read_bytes, 0, written_bytes - read_bytes);
}

void BlockPlayer::copy_later(void* to, const void* from, std::size_t read_bytes, std::size_t written_bytes) {
  Thread& self = running();
  const Copy copy = {to, from, read_bytes, written_bytes, self.copy_group};
  if (order_->copies_early()) {
    copy.make();
  } else {
    self.copies.push_back(copy);
  }
}

void BlockPlayer::close_copy_group() { ++running().copy_group; }

void BlockPlayer::await_copies(std::size_t groups_left_open) {
  Thread& self = running();
  std::size_t made = 0;
  while (made < self.copies.size() && self.copies[made].group + groups_left_open < self.copy_group) {
    self.copies[made++].make();
  }
  self.copies.erase(self.copies.begin(), self.copies.begin() + static_cast<std::ptrdiff_t>(made));
}

}  // namespace ingot::emulated
