// ProgramAccount: what a program's memory comes to, and how much it may. Private memory is charged when it is promised,
// at its mapping; where it was only reserved (PROT_NONE, MAP_NORESERVE, a stack), or shows a file, when a page is
// touched.
#pragma once

#include <array>
#include <cstdint>

#include "base/atomic.h"
#include "os/memory/memory_account.h"

namespace ingot::os {

// Changed under the lock of the program's space; read at any time.
class ProgramAccount final : public MemoryAccount {
 public:
  using Count = Atomic<std::uint64_t>;

  explicit ProgramAccount(std::uint64_t limit) : limit_(limit) {}

  std::uint64_t limit() const { return limit_.load(MemoryOrder::relaxed); }
  // What was promised before stays.
  bool has_room(std::uint64_t bytes) const { return fits(charged(), bytes); }
  std::uint64_t charged() const { return own() + (sockets_ != nullptr ? sockets_->now() : 0); }

  // RLIMIT_AS: of all regions together, whatever they show.
  void limit_addresses(std::uint64_t bytes) { most_addresses_.store(bytes, MemoryOrder::relaxed); }

  Result<void> allow(const RegionFields& region) override;
  Result<void> allow_touch(const Region& region, Access access) override;
  void add(const RegionFields& region) override;
  void show(const Region& region, const MappedPage& page) override;
  void remove(const RegionFields& region) override;
  void hide(const Region& region, const MappedPage& page) override;

  class Peaked {
   public:
    std::uint64_t now() const { return now_.load(MemoryOrder::relaxed); }
    std::uint64_t peak() const { return peak_.load(MemoryOrder::relaxed); }
    void set(std::uint64_t now) {
      now_.store(now, MemoryOrder::relaxed);
      if (now > peak()) peak_.store(now, MemoryOrder::relaxed);
    }

   private:
    Count now_, peak_;
  };
  // What the kernel holds for its sockets, where a network counts it; the count outlives the account. nullptr: nothing.
  void charge_sockets(const Peaked& bytes) { sockets_ = &bytes; }
  const Peaked* sockets() const { return sockets_; }
  const Peaked& addresses() const { return addresses_; }  // bytes of regions, whatever is behind them
  const Peaked& resident() const { return resident_; }    // bytes of frames that it holds, tables apart
  const Peaked& charges() const { return charges_; }      // as charged()
  std::uint64_t in_place() const { return in_place_.load(MemoryOrder::relaxed); }  // bytes shown now without a copy
  // Of pages of this size that were shown so far: the image's own memory, or memory of the program.
  std::uint64_t shown(PageSize size, FrameOwnership ownership) const {
    return shown_[place_of(size, ownership)].load(MemoryOrder::relaxed);
  }
  // Small pages of a file, where large ones would have fitted if it lay at a multiple of their size.
  std::uint64_t fall_backs() const { return fall_backs_.load(MemoryOrder::relaxed); }

 private:
  static std::size_t place_of(PageSize size, FrameOwnership ownership) {
    return static_cast<std::size_t>(size) * 2 + (ownership == FrameOwnership::counted ? 1 : 0);
  }
  // Without what strangers send it.
  std::uint64_t own() const { return promised_.load(MemoryOrder::relaxed) + touched_.load(MemoryOrder::relaxed); }
  bool fits(std::uint64_t now, std::uint64_t more) const { return now <= limit() && more <= limit() - now; }
  Result<void> refuse(std::uint64_t more) const;

  Count limit_;
  Count promised_, touched_, in_place_, fall_backs_;
  Peaked addresses_, resident_, charges_;
  const Peaked* sockets_ = nullptr;
  std::array<Count, 6> shown_;
  Count most_addresses_{~std::uint64_t{0}};
};

}  // namespace ingot::os
