#include "engine/sequence_memory.h"

#include <algorithm>

namespace ingot {
namespace {

std::string_view without_run(std::string_view name) { return name.substr(0, name.rfind('@')); }

}  // namespace

SequenceMemory::SequenceMemory(const CacheGeometry& geometry, std::uint64_t secret, MemoryHome home)
    : home_(home),
      geometry_(geometry),
      whole_(static_cast<std::int32_t>(geometry.pages), geometry.page_length, static_cast<int>(geometry.sequences), {},
             secret, home),
      rings_(static_cast<std::int32_t>(geometry.ring_pages * geometry.sequences), geometry.page_length,
             static_cast<int>(geometry.sequences), {.pages = geometry.ring_pages, .window = geometry.ring_window}, 0,
             home),
      slots_(static_cast<std::size_t>(geometry.sequences)) {}

Result<SequenceMemory> SequenceMemory::create(const Circuit& circuit, const CacheGeometry& geometry,
                                              SharingOptions sharing, MemoryHome home) {
  SequenceMemory memory(geometry, sharing.secret, home);
  for (const CircuitTensor& tensor : circuit.tensors) {
    if (tensor.storage == Storage::cache) {
      TRY((geometry.keeps_in_ring(tensor.window) ? memory.rings_ : memory.whole_).add_layer(tensor));
    } else if (tensor.storage == Storage::state &&
               memory.state_offsets_.try_emplace(std::string(without_run(tensor.name)), memory.state_bytes_).second) {
      memory.state_bytes_ +=
          align_up(static_cast<std::size_t>(row_bytes(tensor.dtype, element_count(tensor.shape))), 64);
    }
  }
  memory.first_adapters_ = std::move(sharing.adapters);
  memory.checkpoints_ = {sharing.checkpoints, memory.state_bytes_ + memory.rings_.window_bytes(), home};
  return memory;
}

bool SequenceMemory::has(int sequence) const {
  return sequence >= 0 && static_cast<std::size_t>(sequence) < slots_.size() &&
         slots_[static_cast<std::size_t>(sequence)].used;
}

Result<void> SequenceMemory::require(int sequence) const {
  if (has(sequence)) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a sequence that exists, found ", sequence);
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
  if (slot.states.size() < state_bytes_) slot.states = TRY(home_.allocate(Bytes(state_bytes_)));
  home_.clear(slot.states.data(), state_bytes_);
  return {};
}

Result<int> SequenceMemory::add() {
  const int sequence = TRY(unused_slot());
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  TRY(clear_states(slot));
  slot.used = true;
  slot.length = 0;
  slot.adapters = first_adapters_;
  return sequence;
}

Result<int> SequenceMemory::fork(int sequence) {
  TRY(require(sequence));
  const int copy = TRY(add());
  const Slot& from = slots_[static_cast<std::size_t>(sequence)];
  Slot& to = slots_[static_cast<std::size_t>(copy)];
  to.length = from.length;
  to.adapters = from.adapters;
  whole_.share(sequence, copy);
  rings_.share(sequence, copy);
  if (state_bytes_ > 0) home_.copy(to.states.data(), from.states.data(), state_bytes_);
  return copy;
}

std::vector<std::int32_t> SequenceMemory::usable_pages(std::uint64_t salt, std::span<const std::int32_t> tokens) const {
  std::vector<std::int32_t> pages = whole_.known_pages(salt, tokens);
  if (!needs_checkpoints()) return pages;
  while (!pages.empty() && !checkpoints_.has(whole_.text_number(pages.back()))) pages.pop_back();
  return pages;
}

KnownBeginning SequenceMemory::known_beginning(std::uint64_t salt, std::span<const std::int32_t> tokens) const {
  const std::vector<std::int32_t> pages = usable_pages(salt, tokens);
  return {.tokens = std::ssize(pages) * geometry_.page_length, .pages_in_use = whole_.count_in_use(pages)};
}

Result<int> SequenceMemory::add_beginning(std::uint64_t salt, std::span<const std::int32_t> tokens) {
  const int sequence = TRY(add());
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  const std::vector<std::int32_t> pages = usable_pages(salt, tokens);
  whole_.adopt(sequence, pages);
  slot.length = std::ssize(pages) * geometry_.page_length;
  if (pages.empty() || !needs_checkpoints()) return sequence;
  const std::byte* checkpoint = checkpoints_.use(whole_.text_number(pages.back()));
  if (state_bytes_ > 0) home_.copy(slot.states.data(), checkpoint, state_bytes_);
  const Result<void> restored = rings_.restore_window(sequence, slot.length, checkpoint + state_bytes_);
  if (restored.ok()) return sequence;
  remove(sequence);
  return restored.error();
}

void SequenceMemory::keep_checkpoint(int sequence) {
  const Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  const std::uint64_t text = whole_.text_number(whole_.page(sequence, slot.length / geometry_.page_length - 1));
  if (checkpoints_.use(text) != nullptr) return;
  std::byte* const to = checkpoints_.add(text);
  if (to == nullptr) return;
  if (state_bytes_ > 0) home_.copy(to, slot.states.data(), state_bytes_);
  rings_.copy_window(sequence, slot.length, to + state_bytes_);
}

void SequenceMemory::publish(int sequence, std::uint64_t salt, std::span<const std::int32_t> tokens) {
  // Either may be longer: tokens that are not computed, or what was only proposed.
  whole_.publish(sequence, salt, tokens.first(std::min(tokens.size(), static_cast<std::size_t>(length(sequence)))));
}

void SequenceMemory::remove(int sequence) {
  whole_.truncate(sequence, 0);
  rings_.truncate(sequence, 0);
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  slot.length = 0;
  slot.used = false;
}

std::int64_t SequenceMemory::earliest_length(int sequence) const {
  return state_bytes_ > 0 ? length(sequence) : rings_.earliest_length(sequence);
}

Result<void> SequenceMemory::truncate(int sequence, std::int64_t length) {
  TRY(require(sequence));
  Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  if (length < 0 || length > slot.length) {
    return Error::of(ErrorCode::out_of_range, "expected a length from 0 to ", slot.length, ", found ", length);
  }
  if (!can_truncate(sequence, length)) {
    return Error::of(ErrorCode::unsupported, "expected a length of 0 or from ", earliest_length(sequence), " to ",
                     slot.length, ", found ", length, ": what the model saw there is overwritten. Fork a sequence to ",
                     "come back to it, or begin again from 0");
  }
  if (length != slot.length) TRY(clear_states(slot));  // then the length is 0, or there are none
  slot.length = length;
  whole_.truncate(sequence, length);
  rings_.truncate(sequence, length);
  return {};
}

Result<void> SequenceMemory::reserve(int sequence, std::int64_t tokens) {
  TRY(require(sequence));
  const std::int64_t begin = length(sequence);
  const std::int64_t room = capacity() - begin;
  if (tokens < 0 || tokens > room) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", room, " more tokens of a context of ", capacity(),
                     ", found ", tokens);
  }
  const std::int64_t end = begin + tokens;
  const bool has_pages = whole_.has_layers() || needs_checkpoints();
  if (has_pages) TRY(whole_.check_room(sequence, begin, end));
  if (rings_.has_layers()) TRY(rings_.check_room(sequence, begin, end));
  if (has_pages) TRY(whole_.reserve(sequence, begin, end));
  if (rings_.has_layers()) TRY(rings_.reserve(sequence, begin, end));
  return {};
}

std::vector<SequenceMemory::Part> SequenceMemory::parts(int sequence) const {
  std::vector<Part> parts;
  const Slot& slot = slots_[static_cast<std::size_t>(sequence)];
  for (const PagedCache* cache : {&whole_, &rings_}) {
    for (const std::string& layer : cache->layer_names()) {
      parts.push_back({layer, cache->pieces(layer, sequence, slot.length)});
    }
  }
  if (state_bytes_ > 0) parts.push_back({"states", {std::span(slot.states.data(), state_bytes_)}});
  return parts;
}

Result<void> SequenceMemory::lengthen_unwritten(int sequence, std::int64_t length) {
  // A ring makes room for so many at once as its window leaves it, which is more than a page.
  while (this->length(sequence) < length) {
    const std::int64_t step = std::min(length - this->length(sequence), geometry_.page_length);
    const Result<void> reserved = reserve(sequence, step);
    if (!reserved.ok()) {
      TRY(truncate(sequence, 0));
      return reserved.error();
    }
    advance(sequence, step);
  }
  return {};
}

std::byte* SequenceMemory::cache(const CircuitTensor& tensor) const {
  return (geometry_.keeps_in_ring(tensor.window) ? rings_ : whole_).find(tensor.name);
}

std::byte* SequenceMemory::state(const CircuitTensor& tensor, int sequence) const {
  return slots_[static_cast<std::size_t>(sequence)].states.data() +
         state_offsets_.find(without_run(tensor.name))->second;
}

std::size_t SequenceMemory::bytes() const {
  std::size_t bytes = whole_.bytes() + rings_.bytes() + checkpoints_.bytes();
  for (const Slot& slot : slots_) bytes += slot.states.size();
  return bytes;
}

std::size_t SequenceMemory::most_bytes() const {
  const std::size_t checkpoints = needs_checkpoints() ? checkpoints_.most_bytes() : 0;
  return whole_.most_bytes() + rings_.most_bytes() + slots_.size() * state_bytes_ + checkpoints;
}

}  // namespace ingot
