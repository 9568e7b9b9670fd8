// An accelerator's worker as tests have it: it does what it is told while the kernel rings, on memory that is an array,
// or lies about it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/accelerator/rings.h"
#include "os/gpu/accelerator_machine.h"
#include "os/gpu/worker_watch.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

class FakeWorker final : public AcceleratorMachine {
 public:
  using Words = accelerator::SharedWords;
  struct Range {
    std::uint64_t bytes = 0;
    bool writable = false;
    std::vector<accelerator::MemoryPiece> pieces;
  };

  explicit FakeWorker(PhysicalWindow window)
      : window_(window),
        packets_(accelerator::memory_reader(words())),
        answers_(accelerator::memory_answer_writer(words())) {
    words().identity().magic = accelerator::magic;
    words().identity().version = accelerator::protocol_version;
    words().memory().state.store(accelerator::WorkerState::ready, MemoryOrder::relaxed);
  }

  Words words() { return Words(reinterpret_cast<std::byte*>(shared_.get())); }
  void end(accelerator::WorkerState state) {
    words().memory().state.store(state, MemoryOrder::release);
    ++rung;
  }
  void reap() {
    words().owners_broker().worker_is_gone.store(1, MemoryOrder::release);
    ++rung;
  }

  // How it misbehaves.
  bool is_silent = false;   // answers nothing
  bool is_stopped = false;  // its heart stands still
  std::uint64_t tag_error = 0;
  std::uint64_t index_error = 0;
  accelerator::AnswerStatus status = accelerator::AnswerStatus::done;
  std::uint32_t code = 0;
  std::string text;
  std::function<void()> on_wait;  // once

  // What it was told.
  bool has_adopted = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> located;  // begin, bytes
  std::map<std::uint64_t, Range> ranges;
  std::vector<accelerator::MemoryCode> codes;
  std::uint64_t retired = 0;
  std::uint64_t rung = 0;
  int rings = 0;
  Nanoseconds time{1'000'000'000};

  Nanoseconds now() override { return time; }
  void ring() override {
    ++rings;
    while (!is_silent && packets_.waiting().value() > 0) answer(packets_.take());
  }
  std::uint64_t bells() override { return rung; }
  void wait(std::uint64_t bells, Nanoseconds until) override {
    if (on_wait) std::exchange(on_wait, {})();
    if (bells != rung) return;
    EXPECT_GT(until, time);
    if (!is_stopped) words().memory().heartbeat.fetch_add(1, MemoryOrder::relaxed);
    time = until;
  }
  std::uint64_t random() override { return 0x1234'5678'9abc'def0 + ++randoms_; }
  void retire(std::uint64_t frames) override { retired += frames; }

 private:
  struct alignas(4096) Shared {
    std::byte bytes[accelerator::shared_bytes] = {};
  };

  void answer(const accelerator::VendorPacket& packet) {
    const accelerator::MemoryCommand command = accelerator::decode_memory(packet).value();
    codes.push_back(command.code);
    accelerator::MemoryAnswer answer;
    answer.tag = command.tag + tag_error;
    answer.status = status;
    answer.code = code;
    answer.text_length = static_cast<std::uint32_t>(text.size());
    std::copy_n(text.begin(), std::min(text.size(), answer.text.size()), answer.text.begin());
    if (status == accelerator::AnswerStatus::done) perform(command);
    answers_.push(answer);
    if (index_error != 0) words().memory().answer_write.fetch_add(index_error, MemoryOrder::relaxed);
    ++rung;
  }
  void perform(const accelerator::MemoryCommand& command) {
    using accelerator::MemoryCode;
    switch (command.code) {
      case MemoryCode::adopt: has_adopted = true; break;
      case MemoryCode::locate: {
        const auto* words = window_.at<std::uint64_t>(PhysicalAddress(command.frame));
        for (std::size_t i = 0; i < accelerator::nonce_repeats; ++i) EXPECT_EQ(words[i], command.nonce);
        located.push_back({command.address, command.bytes});
        break;
      }
      case MemoryCode::map_pieces: {
        Range range{command.bytes, command.writable, {}};
        const auto* table = window_.at<accelerator::MemoryPiece>(PhysicalAddress(command.table));
        range.pieces.assign(table, table + command.pieces);
        EXPECT_TRUE(ranges.emplace(command.address, range).second);
        break;
      }
      case MemoryCode::unmap: EXPECT_EQ(ranges.erase(command.address), 1u); break;
      case MemoryCode::map: ADD_FAILURE() << "of a Linux client"; break;
    }
  }

  PhysicalWindow window_;
  std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
  accelerator::MemoryReader packets_;
  accelerator::MemoryAnswerWriter answers_;
  std::uint64_t randoms_ = 0;
};

}  // namespace ingot::os
