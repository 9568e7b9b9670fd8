#include "engine/sequence_memory.h"

#include <algorithm>
#include <cstring>

namespace ingot {
namespace {

std::size_t bytes_of(const CircuitTensor& tensor) {
  return static_cast<std::size_t>(element_count(tensor.shape) / block_elements(tensor.dtype) *
                                  block_bytes(tensor.dtype));
}

std::string_view without_run(std::string_view name) { return name.substr(0, name.rfind('@')); }

}  // namespace

Result<SequenceMemory> SequenceMemory::create(const Circuit& circuit, const CacheGeometry& geometry) {
  SequenceMemory memory(geometry);
  for (const CircuitTensor& tensor : circuit.tensors) {
    if (tensor.storage == Storage::cache) {
      memory.caches_.emplace(tensor.name, TRY(Memory::allocate(Bytes(bytes_of(tensor)))));
    } else if (tensor.storage == Storage::state &&
               memory.state_offsets_.try_emplace(std::string(without_run(tensor.name)), memory.state_bytes_).second) {
      memory.state_bytes_ += (bytes_of(tensor) + 63) / 64 * 64;
    }
  }
  memory.slots_.resize(static_cast<std::size_t>(geometry.sequences));
  return memory;
}

bool SequenceMemory::has(int sequence) const {
  return sequence >= 0 && static_cast<std::size_t>(sequence) < slots_.size() &&
         slots_[static_cast<std::size_t>(sequence)].used;
}

Result<int> SequenceMemory::unused_slot() {
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    if (!slots_[index].used) return static_cast<int>(index);
  }
  return Error::of(ErrorCode::out_of_range, "expected room for one more sequence, found all ", slots_.size(),
                   " in use");
}

Result<void> SequenceMemory::clear_states(Slot& slot) {
  if (state_bytes_ == 0) return {};
  if (slot.states.size() < state_bytes_) slot.states = TRY(Memory::allocate(Bytes(state_bytes_)));
  std::memset(slot.states.data(), 0, state_bytes_);
  return {};
}

Result<int> SequenceMemory::add() {
  const int sequence = TRY(unused_slot());
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  TRY(clear_states(slot));
  slot.used = true;
  slot.length = 0;
  return sequence;
}

Result<int> SequenceMemory::fork(int sequence) {
  const int copy = TRY(add());
  const Slot& from = slots_[static_cast<std::size_t>(sequence)];
  Slot& to = slots_[static_cast<std::size_t>(copy)];
  to.length = from.length;
  to.pages = from.pages;
  for (const std::int32_t page : to.pages) pool_.share(page);
  if (state_bytes_ > 0) std::memcpy(to.states.data(), from.states.data(), state_bytes_);
  return copy;
}

void SequenceMemory::remove(int sequence) {
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  for (const std::int32_t page : slot.pages) pool_.release(page);
  slot.pages.clear();
  slot.length = 0;
  slot.used = false;
}

Result<void> SequenceMemory::truncate(int sequence, std::int64_t length) {
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  if (length < 0 || length > slot.length) {
    return Error::of(ErrorCode::out_of_range, "expected a length from 0 to ", slot.length, ", found ", length);
  }
  if (state_bytes_ > 0 && length != slot.length) {
    if (length != 0) {
      return Error::of(ErrorCode::unsupported, "expected a recurrent model to be turned back to its beginning or not ",
                       "at all, found position ", length, " of ", slot.length, ": fork a sequence to come back to it");
    }
    TRY(clear_states(slot));
  }
  slot.length = length;
  const auto needed = static_cast<std::size_t>((length + geometry_.page_length - 1) / geometry_.page_length);
  while (slot.pages.size() > needed) {
    pool_.release(slot.pages.back());
    slot.pages.pop_back();
  }
  return {};
}

Result<void> SequenceMemory::reserve(int sequence, std::int64_t tokens) {
  if (caches_.empty()) return {};
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  const std::int64_t end = slot.length + tokens;
  if (end > capacity()) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", capacity(), " tokens of context, found ", end);
  }
  const auto needed = static_cast<std::size_t>((end + geometry_.page_length - 1) / geometry_.page_length);
  const auto first_written = static_cast<std::size_t>(slot.length / geometry_.page_length);
  const bool copies = first_written < slot.pages.size() && pool_.is_shared(slot.pages[first_written]);
  const std::size_t new_pages = needed > slot.pages.size() ? needed - slot.pages.size() : 0;
  if (static_cast<std::size_t>(pool_.free_count()) < new_pages + (copies ? 1 : 0)) {
    return Error::of(ErrorCode::out_of_memory, "expected ", new_pages + (copies ? 1 : 0), " free cache pages, found ",
                     pool_.free_count());
  }
  if (copies) {
    const std::int32_t shared = slot.pages[first_written];
    slot.pages[first_written] = *pool_.take();
    copy_page(shared, slot.pages[first_written]);
    pool_.release(shared);
  }
  for (std::size_t index = 0; index < new_pages; ++index) slot.pages.push_back(*pool_.take());
  return {};
}

void SequenceMemory::copy_page(std::int32_t from, std::int32_t to) {
  for (auto& [name, memory] : caches_) {
    const std::size_t page = memory.size() / static_cast<std::size_t>(geometry_.pages);
    std::memcpy(memory.data() + static_cast<std::size_t>(to) * page,
                memory.data() + static_cast<std::size_t>(from) * page, page);
  }
}

std::byte* SequenceMemory::cache(const CircuitTensor& tensor) const { return caches_.find(tensor.name)->second.data(); }

std::byte* SequenceMemory::state(const CircuitTensor& tensor, int sequence) const {
  return slots_[static_cast<std::size_t>(sequence)].states.data() +
         state_offsets_.find(without_run(tensor.name))->second;
}

std::size_t SequenceMemory::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, memory] : caches_) bytes += memory.size();
  for (const Slot& slot : slots_) bytes += slot.states.size();
  return bytes;
}

}  // namespace ingot
