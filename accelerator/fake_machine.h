// A machine without an emulator, for tests: its memory is a file with a hole in its addresses, and what its kernel
// would tell the worker is told here. Programs' pages lie scattered over its frames.
#pragma once

#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <vector>

#include "accelerator/raw_client.h"
#include "base/accelerator/memory_packet.h"
#include "machine/accelerator/node_link.h"

namespace ingot {

// Memory of a machine that nobody emulates: addresses below and above the hole, one behind the other in the file.
class FakeMemory {
 public:
  static constexpr std::uint64_t page = accelerator::page_bytes;
  struct Range {
    std::uint64_t physical = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
  };

  explicit FakeMemory(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
    std::uint64_t bytes = 0;
    for (const Range& range : ranges_) bytes = std::max(bytes, range.offset + range.bytes);
    file_ = SharedMemory::create(Bytes(bytes), "machine").value();
  }

  const std::vector<Range>& ranges() const { return ranges_; }
  const SharedMemory& file() const { return file_; }
  std::uint64_t offset_of(std::uint64_t physical) const {
    for (const Range& range : ranges_) {
      if (physical - range.physical < range.bytes) return range.offset + (physical - range.physical);
    }
    std::abort();
  }
  template <class Value>
  void write(std::uint64_t physical, const std::vector<Value>& values) const {
    std::memcpy(file_.data() + offset_of(physical), values.data(), values.size() * sizeof(Value));
  }
  void write_nonce(std::uint64_t frame, std::uint64_t nonce) const {
    write(frame, std::vector<std::uint64_t>(accelerator::nonce_repeats, nonce));
  }

 private:
  std::vector<Range> ranges_;
  SharedMemory file_;
};

class FakeMachine {
 public:
  static constexpr std::uint64_t page = FakeMemory::page;
  static constexpr std::uint64_t table_frames = 32;  // the first ones of its first range

  // Small, with a hole that no emulator has: nothing but the nonces says where the second range lies.
  explicit FakeMachine(const std::string& path)
      : memory_({{0, 4 << 20, 0}, {32 << 20, 60 << 20, 4 << 20}}), client_(path, memory_.file().descriptor()) {
    for (const FakeMemory::Range& range : memory_.ranges()) {
      for (std::uint64_t frame = 0; frame < range.bytes; frame += page) {
        if (range.physical + frame >= table_frames * page) free_.push_back(range.physical + frame);
      }
    }
    std::shuffle(free_.begin(), free_.end(), random_);
  }

  const FakeMemory& memory() const { return memory_; }
  const RawClient& client() const { return client_; }
  accelerator::MemoryAnswer order(accelerator::MemoryCode code, std::array<std::uint64_t, 4> operands,
                                  std::uint32_t flags = 0) const {
    return client_.order(accelerator::memory_packet(code, operands, 1, flags));
  }
  // What a kernel does first; the first thing that was refused.
  std::string begin() {
    const accelerator::MemoryAnswer adopted = order(accelerator::MemoryCode::adopt, {});
    if (adopted.value != memory_.file().size()) return "adopt: " + text_of(adopted);
    for (const FakeMemory::Range& range : memory_.ranges()) {
      const std::uint64_t frame = range.physical + range.bytes / 2, nonce = random_();
      memory_.write_nonce(frame, nonce);
      const accelerator::MemoryAnswer located =
          order(accelerator::MemoryCode::locate, {range.physical, range.bytes, frame, nonce});
      memory_.write_nonce(frame, 0);
      if (!text_of(located).empty() || located.value != range.offset) return "locate: " + text_of(located);
    }
    return "";
  }

  // Moves pages of this process into frames of the machine, where they stay, and shows them.
  accelerator::MemoryAnswer show(std::uint64_t address, std::uint64_t bytes, std::uint32_t flags) {
    std::vector<accelerator::MemoryPiece> table;
    for (std::uint64_t at = address; at < address + bytes; at += page) {
      if (free_.empty() || (table.size() + 1) * sizeof table[0] > table_frames * page) std::abort();
      const std::uint64_t frame = free_.back(), offset = memory_.offset_of(frame);
      free_.pop_back();
      taken_[address].push_back(frame);
      auto* const ours = std::bit_cast<std::byte*>(at);
      std::memcpy(memory_.file().data() + offset, ours, page);
      if (::mmap(ours, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_.file().descriptor(),
                 static_cast<off_t>(offset)) == MAP_FAILED) {
        std::abort();
      }
      table.push_back({frame, page});
    }
    memory_.write(0, table);
    return order(accelerator::MemoryCode::map_pieces, {address, bytes, 0, table.size()}, flags);
  }
  accelerator::MemoryAnswer hide(std::uint64_t address) {
    const accelerator::MemoryAnswer answer = order(accelerator::MemoryCode::unmap, {address, 0, 0, 0});
    for (const std::uint64_t frame : taken_[address]) free_.insert(free_.begin(), frame);
    taken_.erase(address);
    return answer;
  }
  // As close() of the node.
  void hide_all() {
    while (!taken_.empty()) hide(taken_.begin()->first);
  }

 private:
  std::mt19937_64 random_{17};
  FakeMemory memory_;
  RawClient client_;
  std::vector<std::uint64_t> free_;
  std::map<std::uint64_t, std::vector<std::uint64_t>> taken_;
};

// The node of such a machine.
class FakeNode final : public AcceleratorNode {
 public:
  explicit FakeNode(FakeMachine& machine) : machine_(machine) {}
  ~FakeNode() override { machine_.hide_all(); }

  std::byte* words() const override { return machine_.client().rings.data(); }
  int control(std::uint32_t code, void* argument) override {
    using namespace accelerator;
    if (code == node_map) {
      const auto& map = *static_cast<const NodeMap*>(argument);
      return answer(text_of(machine_.show(map.address, map.bytes, map.flags)).empty(), EINVAL);
    }
    if (code == node_unmap) {
      return answer(text_of(machine_.hide(static_cast<const NodeUnmap*>(argument)->address)).empty(), EINVAL);
    }
    if (code == node_ring) {
      machine_.client().ring();
      return 0;
    }
    if (code == node_wait) return wait(static_cast<const NodeWait*>(argument)->nanoseconds);
    return answer(false, ENOTTY);
  }

 private:
  static int answer(bool is_done, int refusal) {
    if (is_done) return 0;
    errno = refusal;
    return -1;
  }
  int wait(std::uint64_t nanoseconds) {
    const RawClient& client = machine_.client();
    std::array<pollfd, 2> waiting = {
        {{client.greeting.answer_bell.get(), POLLIN, 0}, {client.socket.get(), POLLRDHUP, 0}}};
    const int count = ::poll(waiting.data(), waiting.size(), static_cast<int>(nanoseconds / 1'000'000));
    if ((waiting[1].revents & (POLLRDHUP | POLLHUP)) != 0) return answer(false, EIO);
    if (count <= 0) return 0;
    std::uint64_t rung = 0;
    [[maybe_unused]] const ssize_t read = ::read(client.greeting.answer_bell.get(), &rung, sizeof rung);
    return 1;
  }
  FakeMachine& machine_;
};

}  // namespace ingot
