// The vector registers of the program that runs now, and the place where its thread keeps them.
#pragma once

#include "os/arch/x86_64/vector_state.h"

namespace ingot::os::arch {

// What the registers hold, leaving nothing out: into an area that others read, or into another thread's.
void save_whole_vectors(VectorState& state);
// The current thread goes on with registers as after a reset, or with what the other state holds, which gets the old
// area. Precondition: `own` is the current thread's.
void reset_vectors(VectorState& own);
void take_vectors(VectorState& own, VectorState& other);

}  // namespace ingot::os::arch
