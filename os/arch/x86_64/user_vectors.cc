#include "os/arch/arch.h"

namespace ingot::os::arch {

// Not XSAVEOPT: it leaves out what has not changed since a restore from the same address, which may have been another
// thread's then.
void save_whole_vectors(VectorState& state) {
  if (!state.has_header()) return state.save();
  // Assembly: as in vector_state.cc.
  asm volatile("xsave64 (%0)" : : "r"(state.memory().data()), "a"(~0u), "d"(~0u) : "memory");
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

}  // namespace ingot::os::arch
