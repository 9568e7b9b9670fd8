// The rings, from both ends. An end keeps its own index to itself and publishes it; the other end's is read, and an
// index that cannot be is an error, for ever: who does not keep to the protocol is not talked to.
#pragma once

#include "base/accelerator/memory_packet.h"
#include "base/accelerator/wake.h"

namespace ingot::accelerator {

// The end that writes entries.
template <class Entry, std::size_t ring, std::uint64_t count>
class RingWriter {
 public:
  // From an entry on: another one than the first where somebody wrote some and left.
  RingWriter(SharedWords shared, Atomic<std::uint64_t>& written, const Atomic<std::uint64_t>& read,
             std::uint64_t first = 0)
      : shared_(shared), written_(written), read_(read), next_(first), known_read_(first - count) {}

  std::uint64_t written() const { return next_; }
  // How many more fit.
  Result<std::uint64_t> room() {
    // The reader's word is asked for only where its last answer leaves no room: it costs a line of cache.
    if (next_ - known_read_ < count) return count - (next_ - known_read_);
    const std::uint64_t used = next_ - read_.load(MemoryOrder::acquire);
    if (used > count) {
      return Error::of(ErrorCode::corrupt, "ring: expected a reader at most ", count, " entries behind ", next_,
                       ", found it at ", next_ - used);
    }
    known_read_ = next_ - used;
    return count - used;
  }
  // Precondition: room().
  void push(const Entry& entry) {
    shared_.slot<Entry>(ring, next_ % count).store(entry);
    written_.store(++next_, MemoryOrder::release);
  }

 private:
  SharedWords shared_;
  Atomic<std::uint64_t>& written_;
  const Atomic<std::uint64_t>& read_;
  std::uint64_t next_;
  std::uint64_t known_read_;
};

// The end that reads them.
template <class Entry, std::size_t ring, std::uint64_t count>
class RingReader {
 public:
  RingReader(SharedWords shared, const Atomic<std::uint64_t>& written, Atomic<std::uint64_t>& read,
             std::uint64_t first = 0)
      : shared_(shared), written_(written), read_(read), next_(first) {}

  std::uint64_t taken() const { return next_; }
  // How many entries there are to take.
  Result<std::uint64_t> waiting() const {
    const std::uint64_t waiting = written_.load(MemoryOrder::acquire) - next_;
    if (waiting > count) {
      return Error::of(ErrorCode::corrupt, "ring: expected a writer at most ", count, " entries before ", next_,
                       ", found it at ", next_ + waiting);
    }
    return waiting;
  }
  // A copy, so that nobody can change it any more; its slot is free. Precondition: waiting().
  Entry take() {
    const Entry entry = shared_.slot<Entry>(ring, next_ % count).load();
    read_.store(++next_, MemoryOrder::release);
    return entry;
  }

 private:
  SharedWords shared_;
  const Atomic<std::uint64_t>& written_;
  Atomic<std::uint64_t>& read_;
  std::uint64_t next_;
};

using CommandWriter = RingWriter<Packet, at::commands, command_count>;
using CommandReader = RingReader<Packet, at::commands, command_count>;
using AnswerWriter = RingWriter<Answer, at::answers, answer_count>;
using AnswerReader = RingReader<Answer, at::answers, answer_count>;
using FaultReader = RingReader<Fault, at::faults, fault_count>;
using MemoryWriter = RingWriter<VendorPacket, at::memory_packets, memory_count>;
using MemoryReader = RingReader<VendorPacket, at::memory_packets, memory_count>;
using MemoryAnswerWriter = RingWriter<MemoryAnswer, at::memory_answers, memory_answer_count>;
using MemoryAnswerReader = RingReader<MemoryAnswer, at::memory_answers, memory_answer_count>;

// A client begins where the one before it stood: a machine's programs come one after the other to one worker.
inline CommandWriter command_writer(SharedWords shared) {
  Atomic<std::uint64_t>& written = shared.doorbell().command_write;
  return {shared, written, shared.worker().command_read, written.load(MemoryOrder::relaxed)};
}
inline AnswerReader answer_reader(SharedWords shared) {
  Atomic<std::uint64_t>& read = shared.client().answer_read;
  return {shared, shared.worker().answer_write, read, read.load(MemoryOrder::relaxed)};
}
inline FaultReader fault_reader(SharedWords shared) {
  Atomic<std::uint64_t>& read = shared.client().fault_read;
  return {shared, shared.worker().fault_write, read, read.load(MemoryOrder::relaxed)};
}

inline CommandReader command_reader(SharedWords shared) {
  return {shared, shared.doorbell().command_write, shared.worker().command_read};
}
inline AnswerWriter answer_writer(SharedWords shared) {
  return {shared, shared.worker().answer_write, shared.client().answer_read};
}

inline MemoryWriter memory_writer(SharedWords shared) {
  return {shared, shared.owner().memory_write, shared.memory().memory_read};
}
inline MemoryReader memory_reader(SharedWords shared) {
  return {shared, shared.owner().memory_write, shared.memory().memory_read};
}
inline MemoryAnswerWriter memory_answer_writer(SharedWords shared) {
  return {shared, shared.memory().answer_write, shared.owner().answer_read};
}
inline MemoryAnswerReader memory_answer_reader(SharedWords shared) {
  return {shared, shared.memory().answer_write, shared.owner().answer_read};
}

}  // namespace ingot::accelerator
