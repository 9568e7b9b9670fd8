#include "os/network/tcp/scoreboard.h"

namespace ingot::os::network {

void Scoreboard::remove(Held& held, HeapBlocks& blocks) {
  all_->bytes -= held.range.bytes();
  --all_->count;
  all_->ranges.remove(held);
  blocks.destroy(held);
}

void Scoreboard::free_if_empty(HeapBlocks& blocks) {
  if (all_ == nullptr || all_->count != 0) return;
  blocks.destroy(*std::exchange(all_, nullptr));
}

void Scoreboard::clear(HeapBlocks& blocks) {
  if (is_empty()) return;
  while (Held* const first = all_->ranges.first()) remove(*first, blocks);
  free_if_empty(blocks);
}

Scoreboard::Held* Scoreboard::insert(Held* before, SequenceRange range, HeapBlocks& blocks) {
  Held* const held = all_->count != most_ranges ? blocks.make<Held>(range) : nullptr;
  if (held == nullptr) return nullptr;
  if (before == nullptr) all_->ranges.push_front(*held);
  if (before != nullptr) all_->ranges.insert_after(*before, *held);
  ++all_->count;
  all_->bytes += range.bytes();
  return held;
}

bool Scoreboard::holds(SequenceNumber byte) { return bytes_within({byte, byte + 1}) != 0; }

std::uint32_t Scoreboard::add(SequenceRange range, HeapBlocks& blocks) {
  if (is_empty()) all_ = blocks.make<All>();
  if (is_empty()) return 0;
  // New ranges come at the end more often than not: the place is looked for from there.
  Held* before = all_->ranges.last();
  while (before != nullptr && before->range.begin > range.begin) before = all_->ranges.before(*before);
  const std::uint32_t had = all_->bytes;
  if (before == nullptr || before->range.end < range.begin) {
    Held* const next = before == nullptr ? all_->ranges.first() : all_->ranges.after(*before);
    if (next == nullptr || next->range.begin > range.end) {  // touches none
      const bool is_kept = insert(before, range, blocks) != nullptr;
      free_if_empty(blocks);
      return is_kept ? range.bytes() : 0;
    }
    all_->bytes += next->range.begin.since(range.begin);
    next->range.begin = range.begin;
    before = next;
  }
  while (before->range.end < range.end) {
    Held* const next = all_->ranges.after(*before);
    const SequenceNumber until = next != nullptr && next->range.begin <= range.end ? next->range.begin : range.end;
    all_->bytes += until.since(before->range.end);
    before->range.end = until;
    if (next == nullptr || next->range.begin > until) break;
    before->range.end = next->range.end;
    all_->bytes += next->range.bytes();  // which remove takes off
    remove(*next, blocks);
  }
  return all_->bytes - had;
}

void Scoreboard::drop_before(SequenceNumber acknowledged, HeapBlocks& blocks) {
  if (is_empty()) return;
  while (Held* const first = all_->ranges.first()) {
    if (first->range.end > acknowledged) {
      if (first->range.begin < acknowledged) {
        all_->bytes -= acknowledged.since(first->range.begin);
        first->range.begin = acknowledged;
      }
      return;
    }
    remove(*first, blocks);
  }
  free_if_empty(blocks);
}

std::uint32_t Scoreboard::bytes_within(SequenceRange part) {
  std::uint32_t bytes = 0;
  if (is_empty()) return 0;
  for (const Held& held : all_->ranges) {
    bytes += SequenceRange{later(held.range.begin, part.begin), earlier(held.range.end, part.end)}.bytes();
  }
  return bytes;
}

SequenceNumber Scoreboard::lost_before(SequenceNumber acknowledged, std::uint32_t segment_bytes) {
  std::uint32_t bytes = 0;
  unsigned count = 0;
  if (is_empty()) return acknowledged;
  for (Held* held = all_->ranges.last(); held != nullptr; held = all_->ranges.before(*held)) {
    bytes += held->range.bytes();
    if (++count >= 3 || bytes > 2 * segment_bytes) return held->range.begin;
  }
  return acknowledged;
}

SequenceRange Scoreboard::hole_within(SequenceRange part) {
  if (is_empty()) return part;
  for (const Held& held : all_->ranges) {
    if (held.range.end <= part.begin) continue;
    if (held.range.begin > part.begin) return {part.begin, earlier(held.range.begin, part.end)};
    part.begin = held.range.end;
  }
  return part;
}

}  // namespace ingot::os::network
