#include "os/device/virtio/virtio_queue.h"

namespace ingot::os {

namespace {

constexpr std::uint16_t descriptor_continues = 1, descriptor_is_written = 2;
constexpr std::uint16_t do_not_tell = 1;  // a flag of both rings

constexpr std::uint16_t wrapped(unsigned number) { return static_cast<std::uint16_t>(number); }

}  // namespace

void VirtioQueue::begin(std::byte* memory, std::span<VirtioChain> chains, bool event_index) {
  static_assert(sizeof(Descriptor) * most_entries <= available_at && sizeof(Available) <= used_at - available_at &&
                used_at + sizeof(UsedRing) + sizeof(std::uint16_t) <= memory_bytes);
  __builtin_memset(memory, 0, memory_bytes);
  descriptors_ = reinterpret_cast<Descriptor*>(memory);
  available_ = reinterpret_cast<Available*>(memory + available_at);
  used_ = reinterpret_cast<UsedRing*>(memory + used_at);
  chains_ = chains.data();
  entries_ = free_ = wrapped(static_cast<unsigned>(chains.size()));
  first_free_ = added_ = published_ = taken_ = 0;
  fault_ = VirtioFault::none;
  for (std::uint16_t entry = 0; entry < entries_; ++entry) chains_[entry] = {.next = wrapped(entry + 1u)};
  event_index_ = event_index;
}

bool VirtioQueue::add(std::span<const VirtioPiece> readable, std::span<const VirtioPiece> writable,
                      std::uint64_t token) {
  const std::size_t count = readable.size() + writable.size();
  if (count > free_ || fault_ != VirtioFault::none) return false;
  const std::uint16_t head = first_free_;
  std::uint32_t room = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_written = i >= readable.size();
    const VirtioPiece& piece = is_written ? writable[i - readable.size()] : readable[i];
    if (is_written) room += piece.bytes;
    const std::uint16_t next = chains_[first_free_].next;
    const bool continues = i + 1 < count;
    descriptors_[first_free_] = {
        piece.begin.value(), piece.bytes,
        wrapped((is_written ? descriptor_is_written : 0u) | (continues ? descriptor_continues : 0u)),
        continues ? next : wrapped(0)};
    first_free_ = next;
  }
  free_ = wrapped(free_ - static_cast<unsigned>(count));
  chains_[head].pieces = wrapped(static_cast<unsigned>(count));
  chains_[head].room = room;
  chains_[head].token = token;
  available_->ring[added_++ % entries_].store(head, MemoryOrder::relaxed);
  return true;
}

bool VirtioQueue::publish(std::uint16_t few) {
  const std::uint16_t before = published_;
  if (before == added_) return false;
  published_ = added_;
  available_->index.store(published_, MemoryOrder::release);
  // The device says what it wants to hear of, then looks at the index; here it is the other way round: with a fence
  // between the steps of each, one of the two sees the other.
  atomic_fence(MemoryOrder::sequentially_consistent);
  if (wrapped(before - used_->index.load(MemoryOrder::relaxed)) < few) return true;
  if (!event_index_) return (used_->flags.load(MemoryOrder::relaxed) & do_not_tell) == 0;
  const std::uint16_t wanted = available_event().load(MemoryOrder::relaxed);
  return wrapped(published_ - wanted - 1u) < wrapped(published_ - before);
}

std::optional<VirtioQueue::Used> VirtioQueue::fail(VirtioFault fault) {
  fault_ = fault;
  return std::nullopt;
}

std::optional<VirtioQueue::Used> VirtioQueue::take() {
  if (fault_ != VirtioFault::none) return std::nullopt;
  const std::uint16_t ready = used_now();
  if (ready == 0) return std::nullopt;
  if (ready > in_flight()) return fail(VirtioFault::used_ahead);
  // Each is read once: the device may still change it.
  const UsedEntry& entry = used_->ring[taken_ % entries_];
  const std::uint32_t head = entry.chain.load(MemoryOrder::relaxed);
  const std::uint32_t bytes = entry.bytes.load(MemoryOrder::relaxed);
  if (head >= entries_ || chains_[head].pieces == 0) return fail(VirtioFault::unknown_chain);
  if (bytes > chains_[head].room) return fail(VirtioFault::too_long);
  ++taken_;
  free_chain(wrapped(head));
  return Used{chains_[head].token, bytes};
}

void VirtioQueue::free_chain(std::uint16_t head) {
  std::uint16_t last = head;
  for (std::uint16_t left = wrapped(chains_[head].pieces - 1u); left > 0; --left) last = chains_[last].next;
  free_ = wrapped(free_ + chains_[head].pieces);
  chains_[head].pieces = 0;
  chains_[last].next = first_free_;
  first_free_ = head;
}

bool VirtioQueue::await(std::uint16_t chains) {
  if (event_index_) {
    used_event().store(wrapped(taken_ + chains - 1u), MemoryOrder::relaxed);
  } else {
    available_->flags.store(0, MemoryOrder::relaxed);
  }
  atomic_fence(MemoryOrder::sequentially_consistent);
  return fault_ != VirtioFault::none || used_now() < chains;
}

void VirtioQueue::do_not_interrupt() {
  if (event_index_) {
    used_event().store(wrapped(taken_ - 1u), MemoryOrder::relaxed);  // passed already: it comes true after 65535 chains
  } else {
    available_->flags.store(do_not_tell, MemoryOrder::relaxed);
  }
}

}  // namespace ingot::os
