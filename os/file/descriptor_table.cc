#include "os/file/descriptor_table.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace ingot::os {

// What a file does when its last descriptor goes may take time and locks: references are dropped outside of the lock.

DescriptorTable::~DescriptorTable() {
  close_range(0, largest_limit);
  slots_.with([&](Slots& it) {
    for (std::uint32_t i = 0; i < it.block_count; ++i) {
      if (it.blocks[i] != nullptr) heap_.free(it.blocks[i], block_slots * sizeof(Slot), alignof(Slot));
    }
    if (it.blocks != nullptr) heap_.free(static_cast<void*>(it.blocks), it.block_count * sizeof(Slot*), alignof(Slot*));
  });
}

Answer<DescriptorTable::Slot*> DescriptorTable::make_room(Slots& it, std::uint32_t number) {
  TRY(it.taken.make_room(number + 1));
  const std::uint32_t block = number / block_slots;
  if (block >= it.block_count) {
    const std::uint32_t wanted = std::max(std::bit_ceil(block + 1), 4u);
    auto** blocks = static_cast<Slot**>(TRY(heap_.allocate(wanted * sizeof(Slot*), alignof(Slot*))));
    std::fill(std::copy_n(it.blocks, it.block_count, blocks), blocks + wanted, nullptr);
    if (it.blocks != nullptr) heap_.free(static_cast<void*>(it.blocks), it.block_count * sizeof(Slot*), alignof(Slot*));
    it.blocks = blocks;
    it.block_count = wanted;
  }
  if (it.blocks[block] == nullptr) {
    auto* slots = static_cast<Slot*>(TRY(heap_.allocate(block_slots * sizeof(Slot), alignof(Slot))));
    std::uninitialized_default_construct_n(slots, block_slots);
    it.blocks[block] = slots;
  }
  return it.place(number);
}

Answer<Reference<FileDescription>> DescriptorTable::find(std::int32_t number) {
  return slots_.with([&](Slots& it) -> Answer<Reference<FileDescription>> {
    const Slot* slot = it.at(number);
    if (slot == nullptr) return Errno::ebadf;
    return slot->file;
  });
}

Answer<std::uint32_t> DescriptorTable::take_lowest(Slots& it, std::uint32_t lowest) {
  const std::uint32_t free = it.taken.lowest_free(lowest, it.looks);
  if (free >= limit()) return Errno::emfile;
  TRY(make_room(it, free));
  it.taken.add(free);
  return free;
}

Answer<std::int32_t> DescriptorTable::add(Reference<FileDescription> file, OnExecute on_execute, std::int32_t lowest) {
  if (lowest < 0 || static_cast<std::uint32_t>(lowest) >= limit()) return Errno::einval;
  FileDescription& opened = *file;
  return slots_.with([&](Slots& it) -> Answer<std::int32_t> {
    const std::uint32_t free = TRY(take_lowest(it, static_cast<std::uint32_t>(lowest)));
    Slot& slot = *it.place(free);
    slot.file = std::move(file);
    slot.on_execute = on_execute;
    opened.add_descriptor();
    return static_cast<std::int32_t>(free);
  });
}

Answer<std::int32_t> DescriptorTable::reserve() {
  return slots_.with([&](Slots& it) -> Answer<std::int32_t> {
    const std::uint32_t free = TRY(take_lowest(it, 0));
    it.place(free)->is_reserved = true;
    return static_cast<std::int32_t>(free);
  });
}

void DescriptorTable::fill(std::int32_t number, Reference<FileDescription> file, OnExecute on_execute) {
  slots_.with([&](Slots& it) {
    Slot& slot = *it.place(static_cast<std::uint32_t>(number));
    file->add_descriptor();
    slot.file = std::move(file);
    slot.on_execute = on_execute;
    slot.is_reserved = false;
  });
}

void DescriptorTable::release(std::int32_t number) {
  slots_.with([&](Slots& it) {
    it.place(static_cast<std::uint32_t>(number))->is_reserved = false;
    it.taken.remove(static_cast<std::uint32_t>(number));
  });
}

Answer<std::int32_t> DescriptorTable::put(std::int32_t number, Reference<FileDescription> file, OnExecute on_execute) {
  if (number < 0 || static_cast<std::uint32_t>(number) >= limit()) return Errno::ebadf;
  FileDescription& opened = *file;
  const Answer<void> done = slots_.with([&](Slots& it) -> Answer<void> {
    Slot& slot = *TRY(make_room(it, static_cast<std::uint32_t>(number)));
    if (slot.is_reserved) return Errno::ebusy;
    std::swap(slot.file, file);  // the old one leaves with the argument
    it.taken.add(static_cast<std::uint32_t>(number));
    slot.on_execute = on_execute;
    opened.add_descriptor();
    return {};
  });
  if (!done.ok()) return done.error();
  if (file) file->drop_descriptor();
  return number;
}

Reference<FileDescription> DescriptorTable::take(std::int32_t number) {
  return slots_.with([&](Slots& it) -> Reference<FileDescription> {
    Slot* slot = it.at(number);
    if (slot == nullptr) return {};
    it.taken.remove(static_cast<std::uint32_t>(number));
    slot->on_execute = OnExecute::keeps;
    return std::move(slot->file);
  });
}

Answer<Reference<FileDescription>> DescriptorTable::close(std::int32_t number) {
  Reference<FileDescription> file = take(number);
  if (!file) return Errno::ebadf;
  file->drop_descriptor();
  return file;
}

void DescriptorTable::close_range(std::uint32_t first, std::uint32_t last) {
  if (first > largest_limit) return;
  for (std::int32_t number = static_cast<std::int32_t>(first);; ++number) {
    number = next_used(number);
    if (number < 0 || static_cast<std::uint32_t>(number) > last) return;
    static_cast<void>(close(number));  // another thread may have been faster
  }
}

void DescriptorTable::mark_range(std::uint32_t first, std::uint32_t last) {
  slots_.with([&](Slots& it) {
    const std::uint32_t end = it.taken.capacity();
    for (std::uint32_t i = first; (i = it.taken.lowest_taken(i)) < end && i <= last; ++i) {
      it.place(i)->on_execute = OnExecute::closes;
    }
  });
}

void DescriptorTable::close_for_execute() {
  for (std::int32_t number = next_used(0); number >= 0; number = next_used(number + 1)) {
    const Answer<OnExecute> what = on_execute(number);
    if (what.ok() && what.value() == OnExecute::closes) static_cast<void>(close(number));
  }
}

Answer<OnExecute> DescriptorTable::on_execute(std::int32_t number) {
  return slots_.with([&](Slots& it) -> Answer<OnExecute> {
    const Slot* slot = it.at(number);
    if (slot == nullptr) return Errno::ebadf;
    return slot->on_execute;
  });
}

Answer<void> DescriptorTable::set_on_execute(std::int32_t number, OnExecute on_execute) {
  return slots_.with([&](Slots& it) -> Answer<void> {
    Slot* slot = it.at(number);
    if (slot == nullptr) return Errno::ebadf;
    slot->on_execute = on_execute;
    return {};
  });
}

std::int32_t DescriptorTable::next_used(std::int32_t number) {
  return slots_.with([&](Slots& it) {
    const std::uint32_t taken = it.taken.lowest_taken(static_cast<std::uint32_t>(number));
    return taken < it.taken.capacity() ? static_cast<std::int32_t>(taken) : -1;
  });
}

std::uint32_t DescriptorTable::count() {
  return slots_.with([](Slots& it) { return it.taken.count(); });
}

}  // namespace ingot::os
