#include "os/arch/x86_64/user_vectors.h"

#include "os/boot/kernel.h"
#include "os/process/process.h"

namespace ingot::os::arch {

std::uint64_t vector_parts() { return current_processor().part.vectors.parts; }
std::uint64_t vector_parts_on_request() { return vector_parts() & VectorLayout::on_request; }

// Not XSAVEOPT: it leaves out what has not changed since a restore from the same address, which may have been another
// thread's then.
void save_whole_vectors(VectorState& state) {
  if (!state.has_header()) return state.save();
  // Assembly: as in vector_state.cc.
  asm volatile("xsave64 (%0)" : : "r"(state.memory().data()), "a"(state.parts()), "d"(0) : "memory");
}

// In one piece, both: a switch to another thread would save the registers there.
void reset_vectors(VectorState& own) {
  const InterruptsOff quiet;
  own.clear();
  own.restore();
}

void take_vectors(VectorState& own, VectorState& other) {
  const InterruptsOff quiet;
  own.exchange_memory(other);
  own.restore();
}

namespace {

Result<void> add_parts(UserThread& thread, std::uint32_t parts, Allocator& heap) {
  VectorState& own = thread.vectors();
  VectorState larger = TRY(VectorState::create(heap, own.parts() | parts));
  VectorState returned = TRY(VectorState::room_for(heap, larger));
  thread.returned_vectors().exchange_memory(returned);
  const InterruptsOff quiet;
  save_whole_vectors(own);
  __builtin_memcpy(larger.memory().data(), own.memory().data(), own.memory().size());
  take_vectors(own, larger);
  return {};
}

}  // namespace

bool answer_missing_part() {
  constexpr std::uint32_t missed_parts_register = 0x1c5;  // kept until it is cleared (SDM volume 1, 13.14)
  if (vector_parts_on_request() == 0 || current_thread().user_thread == nullptr) return false;
  const std::uint64_t missed = read_model_register(missed_parts_register);
  write_model_register(missed_parts_register, 0);
  UserThread& thread = *current_thread().user_thread;
  if (missed == 0 || (missed & ~thread.process().granted_vector_parts()) != 0) return false;
  Kernel& kernel = thread.process().kernel();
  const auto parts = static_cast<std::uint32_t>(missed);
  const Result<void> added = add_parts(thread, parts, kernel.memory->heap());
  if (!added.ok()) end_without_memory(kernel, &thread, added.error());
  return true;
}

}  // namespace ingot::os::arch
