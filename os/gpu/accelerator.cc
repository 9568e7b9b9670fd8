#include "os/gpu/accelerator.h"

#include <memory>

#include "os/memory/user_memory.h"

namespace ingot::os {

using accelerator::MemoryCode;
using accelerator::MemoryPiece;
using accelerator::NodeMap;

Accelerator::Accelerator(accelerator::SharedWords shared, const Memory& memory, AcceleratorMachine& machine)
    : memory_(memory),
      machine_(machine),
      shared_(shared),
      owner_(shared, machine),
      located_(memory.frames, memory.window) {}

Result<void> Accelerator::start(std::span<const MemoryRange> ranges) {
  const accelerator::Identity& identity = shared_.identity();
  if (identity.magic != accelerator::magic || identity.version != accelerator::protocol_version) {
    return Error::of(ErrorCode::unsupported, "expected an accelerator that speaks version ",
                     accelerator::protocol_version, ", found version ", identity.version);
  }
  TRY(owner_.ask(MemoryCode::adopt, {}));
  return located_.locate(ranges, owner_, machine_);
}

Answer<void> Accelerator::open() {
  const MutexGuard guard(changes_);
  if (is_lost()) return Errno::enxio;
  if (is_open_) return Errno::ebusy;
  is_open_ = true;
  return {};
}

void Accelerator::look() {
  if (!changes_.try_lock()) return;  // who has it listens
  owner_.watch().look(machine_.now());
  changes_.unlock();
}

bool Accelerator::is_free(std::uint64_t begin, std::uint64_t bytes) const {
  for (const Shown* shown = first_; shown != nullptr; shown = shown->next) {
    if (begin < shown->begin + shown->bytes && shown->begin < begin + bytes) return false;
  }
  return true;
}

Answer<void> Accelerator::show(AddressSpace& space, const NodeMap& wanted, std::uint64_t most_pinned) {
  const std::uint64_t end = user_memory_end.value();
  const bool is_range = (wanted.address | wanted.bytes) % page_bytes == 0 && wanted.bytes != 0 &&
                        wanted.address < end && wanted.bytes <= end - wanted.address;
  if (!is_range || (wanted.flags & ~accelerator::right_write) != 0 || wanted.reserved != 0) return Errno::einval;
  const bool writable = wanted.flags != 0;

  const MutexGuard guard(changes_);
  if (is_lost()) return Errno::eio;
  if (!is_free(wanted.address, wanted.bytes)) return Errno::einval;
  Result<DmaList> pins = DmaList::of_program(memory_.heap, memory_.frames, space, VirtualAddress(wanted.address),
                                             wanted.bytes, {writable ? Access::write : Access::read});
  if (!pins.ok()) return pins.error().code() == ErrorCode::out_of_memory ? Errno::enomem : Errno::efault;
  const std::uint64_t own = own_bytes(pins.value());
  if (pinned_bytes_ > most_pinned || own > most_pinned - pinned_bytes_) return Errno::enomem;
  const Table table = TRY(make_table(pins.value()));
  Result<Owned<Shown>> shown = make_owned<Shown>(memory_.heap, wanted, own, std::move(pins).value());
  if (!shown.ok()) {
    memory_.frames.release(table.first, table.order);
    return Errno::enomem;
  }
  const Answer<void> told = tell(*shown.value(), table);
  if (!told.ok()) {
    if (!owner_.is_quiet()) machine_.retire(abandon(*shown.value()));
    return told.error();
  }
  pinned_bytes_ += own;
  Shown* const added = shown.value().release();
  added->next = first_;
  first_ = added;
  return {};
}

// The allocation that a pin keeps as a whole.
const FrameInfo& Accelerator::kept_by(const PinnedPiece& piece) const {
  const FrameTable& table = memory_.frames.table();
  return table.info(table.head_of(FrameNumber::containing(piece.physical)));
}

// What the image brought is nobody's; the rest stays the program's, also where it lets go of it.
std::uint64_t Accelerator::own_bytes(const DmaList& pins) const {
  std::uint64_t sum = 0;
  const FrameInfo* last = nullptr;
  pins.each_pin([&](const PinnedPiece& piece) {
    if (piece.lender != nullptr) return;
    const FrameInfo* const kept = &kept_by(piece);
    if (kept != last) sum += page_bytes << kept->order();
    last = kept;
  });
  return sum;
}

// In one piece of memory, as the worker wants it.
Answer<Accelerator::Table> Accelerator::make_table(const DmaList& pins) {
  Table table;
  bool is_ours = true;
  pins.each_piece([&](PhysicalAddress begin, std::uint64_t bytes) {
    ++table.pieces;
    is_ours = is_ours && located_.holds(begin, bytes);
  });
  if (!is_ours) return Errno::efault;  // a device's, or in a stretch that was not found
  if (table.pieces > accelerator::most_pieces) return Errno::enomem;
  while ((page_bytes << table.order) < table.pieces * sizeof(MemoryPiece)) ++table.order;
  const Result<FrameNumber> first = memory_.frames.allocate(table.order);
  if (!first.ok()) return Errno::enomem;
  table.first = first.value();
  if (!located_.holds(table.first.address(), page_bytes << table.order)) {
    memory_.frames.release(table.first, table.order);
    return Errno::enomem;
  }
  auto* entry = memory_.window.at<MemoryPiece>(table.first);
  pins.each_piece([&](PhysicalAddress begin, std::uint64_t bytes) { *entry++ = {begin.value(), bytes}; });
  return table;
}

// By then the table is given back, unless the worker may still read it: what it would find there later it would map.
Answer<void> Accelerator::tell(const Shown& shown, const Table& table) {
  const Result<std::uint64_t> mapped = owner_.ask(
      MemoryCode::map_pieces, {shown.begin, shown.bytes, table.first.address().value(), table.pieces}, shown.flags);
  if (owner_.is_quiet()) {
    memory_.frames.release(table.first, table.order);
  } else {
    machine_.retire(std::uint64_t{1} << table.order);
  }
  if (mapped.ok()) return {};
  switch (mapped.error().code()) {
    case ErrorCode::input_output: return Errno::eio;
    case ErrorCode::out_of_memory: return Errno::enomem;
    default: return Errno::einval;
  }
}

Result<void> Accelerator::ask_to_hide(const Shown& shown) {
  const Result<std::uint64_t> hidden = owner_.ask(MemoryCode::unmap, {shown.begin});
  if (hidden.ok()) return {};
  owner_.watch().give_up();  // one that refuses this is as good as lost
  return hidden.error();
}

Answer<void> Accelerator::hide(std::uint64_t address) {
  const MutexGuard guard(changes_);
  Shown** place = &first_;
  while (*place != nullptr && (*place)->begin != address) place = &(*place)->next;
  if (*place == nullptr) return Errno::einval;
  if (is_lost() || !ask_to_hide(**place).ok()) return Errno::eio;  // it stays until it is closed
  Shown* const hidden = std::exchange(*place, (*place)->next);
  drop(hidden);
  return {};
}

void Accelerator::close() {
  const MutexGuard guard(changes_);
  // What the worker lets go of is free at once.
  for (Shown** place = &first_; *place != nullptr && !is_lost();) {
    if (!ask_to_hide(**place).ok()) break;
    drop(std::exchange(*place, (*place)->next));
  }
  if (!owner_.is_quiet()) {
    // Those that it only reads come first: a frame of which it writes another part is kept by the last of its pins.
    std::uint64_t kept = 0;
    for (const bool writable : {false, true}) {
      for (Shown* shown = first_; shown != nullptr; shown = shown->next) {
        if ((shown->flags != 0) == writable) kept += abandon(*shown);
      }
    }
    machine_.retire(kept);
  }
  while (first_ != nullptr) drop(std::exchange(first_, first_->next));
  is_open_ = false;
}

// Frames that are written to keep one pin each, or each large page one.
std::uint64_t Accelerator::abandon(Shown& shown) {
  std::uint64_t kept = 0;
  shown.pins.abandon([&](const PinnedPiece& piece) {
    if (shown.flags == 0 || piece.lender != nullptr) return false;
    const FrameInfo& frames = kept_by(piece);
    if (frames.pins() != 1) return false;  // another one keeps it
    kept += std::uint64_t{1} << frames.order();
    return true;
  });
  return kept;
}

void Accelerator::drop(Shown* shown) {
  pinned_bytes_ -= shown->own_bytes;
  std::destroy_at(shown);
  memory_.heap.free(shown, sizeof(Shown), alignof(Shown));
}

}  // namespace ingot::os
