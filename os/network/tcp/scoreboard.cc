#include "os/network/tcp/scoreboard.h"

namespace ingot::os::network {

void Scoreboard::remove(Held& held, HeapBlocks& blocks) {
  bytes_ -= held.range.bytes();
  --count_;
  ranges_.remove(held);
  blocks.destroy(held);
}

void Scoreboard::clear(HeapBlocks& blocks) {
  while (Held* const first = ranges_.first()) remove(*first, blocks);
}

bool Scoreboard::holds(SequenceNumber byte) { return bytes_within({byte, byte + 1}) != 0; }

std::uint32_t Scoreboard::add(SequenceRange range, HeapBlocks& blocks) {
  // New ranges come at the end more often than not: the place is looked for from there.
  Held* before = ranges_.last();
  while (before != nullptr && before->range.begin > range.begin) before = ranges_.before(*before);
  const std::uint32_t had = bytes_;
  if (before == nullptr || before->range.end < range.begin) {
    Held* const next = before == nullptr ? ranges_.first() : ranges_.after(*before);
    if (next == nullptr || next->range.begin > range.end) {  // touches none
      if (count_ == most_ranges) return 0;
      Held* const held = blocks.make<Held>(range);
      if (held == nullptr) return 0;
      if (before == nullptr) ranges_.push_front(*held);
      if (before != nullptr) ranges_.insert_after(*before, *held);
      ++count_;
      bytes_ += range.bytes();
      return range.bytes();
    }
    bytes_ += next->range.begin.since(range.begin);
    next->range.begin = range.begin;
    before = next;
  }
  while (before->range.end < range.end) {
    Held* const next = ranges_.after(*before);
    const SequenceNumber until = next != nullptr && next->range.begin <= range.end ? next->range.begin : range.end;
    bytes_ += until.since(before->range.end);
    before->range.end = until;
    if (next == nullptr || next->range.begin > until) break;
    before->range.end = next->range.end;
    bytes_ += next->range.bytes();  // which remove takes off
    remove(*next, blocks);
  }
  return bytes_ - had;
}

void Scoreboard::drop_before(SequenceNumber acknowledged, HeapBlocks& blocks) {
  while (Held* const first = ranges_.first()) {
    if (first->range.end > acknowledged) {
      if (first->range.begin < acknowledged) {
        bytes_ -= acknowledged.since(first->range.begin);
        first->range.begin = acknowledged;
      }
      return;
    }
    remove(*first, blocks);
  }
}

std::uint32_t Scoreboard::bytes_within(SequenceRange part) {
  std::uint32_t bytes = 0;
  for (const Held& held : ranges_) {
    bytes += SequenceRange{later(held.range.begin, part.begin), earlier(held.range.end, part.end)}.bytes();
  }
  return bytes;
}

SequenceNumber Scoreboard::lost_before(SequenceNumber acknowledged, std::uint32_t segment_bytes) {
  std::uint32_t bytes = 0;
  unsigned count = 0;
  for (Held* held = ranges_.last(); held != nullptr; held = ranges_.before(*held)) {
    bytes += held->range.bytes();
    if (++count >= 3 || bytes > 2 * segment_bytes) return held->range.begin;
  }
  return acknowledged;
}

SequenceRange Scoreboard::hole_within(SequenceRange part) {
  for (const Held& held : ranges_) {
    if (held.range.end <= part.begin) continue;
    if (held.range.begin > part.begin) return {part.begin, earlier(held.range.begin, part.end)};
    part.begin = held.range.end;
  }
  return part;
}

}  // namespace ingot::os::network
