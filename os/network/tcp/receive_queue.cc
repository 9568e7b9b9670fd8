#include "os/network/tcp/receive_queue.h"

#include <algorithm>

namespace ingot::os::network {

void ReceiveQueue::remove(Early& early) {
  all_early_->held -= early.bytes.held_bytes();
  --all_early_->count;
  all_early_->by_sequence.remove(early);
  all_early_->news.remove(early);
  blocks().destroy(early);
}

void ReceiveQueue::free_if_empty() {
  if (all_early_ == nullptr || all_early_->count != 0) return;
  blocks().destroy(*std::exchange(all_early_, nullptr));
}

void ReceiveQueue::drop_early() {
  if (!has_early()) return;
  while (Early* const first = all_early_->by_sequence.first()) remove(*first);
  free_if_empty();
}

ReceiveQueue::Taken ReceiveQueue::take(SequenceNumber begin, ByteChain&& bytes) {
  Taken taken;
  const SequenceNumber end = begin + static_cast<std::uint32_t>(bytes.bytes());
  if (end <= next_) {
    taken.duplicate = {begin, end};
    return taken;
  }
  if (begin < next_) {
    taken.duplicate = {begin, next_};
    bytes.drop_front(next_.since(begin));
    begin = next_;
  }
  if (begin != next_) {
    taken = take_early(begin, std::move(bytes));
    free_if_empty();
    return taken;
  }
  if (taken.duplicate.is_empty() && has_early()) {
    const Early& first = *all_early_->by_sequence.first();
    taken.duplicate = {first.begin, earlier(first.end(), end)};
  }
  in_order_.append(std::move(bytes));
  next_ = end;
  if (has_early()) join_in_order();
  return taken;
}

void ReceiveQueue::join_in_order() {
  while (Early* const first = all_early_->by_sequence.first()) {
    if (first->begin > next_) break;
    if (first->end() > next_) {
      const SequenceNumber end = first->end();
      all_early_->held -= first->bytes.held_bytes();
      first->bytes.drop_front(next_.since(first->begin));
      in_order_.append(std::move(first->bytes));
      next_ = end;
    }
    remove(*first);
  }
  free_if_empty();
}

ReceiveQueue::Early* ReceiveQueue::insert(Early* before, SequenceNumber begin, ByteChain&& bytes) {
  if (all_early_->count == most_early) return nullptr;
  Early* const early = blocks().make<Early>(begin, blocks());
  if (early == nullptr) return nullptr;
  early->bytes.append(std::move(bytes));
  if (before == nullptr) all_early_->by_sequence.push_front(*early);
  if (before != nullptr) all_early_->by_sequence.insert_after(*before, *early);
  all_early_->news.push_front(*early);
  all_early_->held += early->bytes.held_bytes();
  ++all_early_->count;
  return early;
}

void ReceiveQueue::extend(Early& early, ByteChain&& bytes) {
  all_early_->held += bytes.held_bytes();
  early.bytes.append(std::move(bytes));
}

ReceiveQueue::Taken ReceiveQueue::take_early(SequenceNumber begin, ByteChain&& bytes) {
  Taken taken;
  if (!has_early()) all_early_ = blocks().make<AllEarly>();
  if (!has_early()) return {.duplicate = {}, .is_kept = false};
  auto& order = all_early_->by_sequence;
  const SequenceNumber end = begin + static_cast<std::uint32_t>(bytes.bytes());
  Early* before = order.last();
  while (before != nullptr && before->begin > begin) before = order.before(*before);
  if (before != nullptr && before->end() > begin) {
    taken.duplicate = {begin, earlier(before->end(), end)};
    bytes.drop_front(taken.duplicate.bytes());
    begin = taken.duplicate.end;
  }
  // What it covers is dropped: it brings the same bytes. The last one may reach beyond it.
  Early* next = before != nullptr ? order.after(*before) : order.first();
  while (next != nullptr && next->begin < end && begin != end) {
    if (taken.duplicate.is_empty()) taken.duplicate = {next->begin, earlier(next->end(), end)};
    if (next->end() > end) {
      bytes.drop_back(end.since(next->begin));
      break;
    }
    Early& covered = *next;
    next = order.after(covered);
    remove(covered);
  }
  const bool extends = before != nullptr && before->end() == begin;
  if (extends && !bytes.is_empty()) extend(*before, std::move(bytes));
  Early* const kept = extends || bytes.is_empty() ? before : insert(before, begin, std::move(bytes));
  if (kept == nullptr) return {.duplicate = taken.duplicate, .is_kept = false};
  if (next != nullptr && next->begin == kept->end()) {
    all_early_->held -= next->bytes.held_bytes();
    extend(*kept, std::move(next->bytes));
    remove(*next);
  }
  all_early_->news.remove(*kept);
  all_early_->news.push_front(*kept);
  return taken;
}

std::size_t ReceiveQueue::early_ranges(std::span<SequenceRange> to) {
  std::size_t count = 0;
  if (!has_early()) return 0;
  for (const Early& early : all_early_->news) {
    if (count == to.size()) break;
    to[count++] = {early.begin, early.end()};
  }
  return count;
}

void ReceiveQueue::compact(ByteChain& chain) {
  constexpr std::uint64_t block_bytes = 16 << 10;
  ByteChain thick(blocks());
  while (!chain.is_empty()) {
    const std::uint64_t count = std::min(chain.bytes(), block_bytes);
    Answer<Reference<Block>> block = blocks().create(count);
    if (!block.ok()) break;
    const std::span<std::byte> room = block.value()->bytes();
    chain.copy_out(0, room);
    if (!thick.add(std::move(block).value(), room).ok()) break;
    chain.drop_front(count);
  }
  thick.append(std::move(chain));
  chain = std::move(thick);
}

bool ReceiveQueue::compact(std::uint64_t most) {
  compact(in_order_);
  if (has_early()) {
    all_early_->held = 0;
    for (Early& early : all_early_->by_sequence) {
      compact(early.bytes);
      all_early_->held += early.bytes.held_bytes();
    }
  }
  return held_bytes() <= most;
}

}  // namespace ingot::os::network
