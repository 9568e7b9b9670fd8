// The vector registers of the program that runs now, and the place where its thread keeps them.
#pragma once

#include "os/arch/x86_64/vector_state.h"

namespace ingot::os::arch {

// Parts of the state that programs may have, as bits of XCR0; and those of them that they have to ask for.
std::uint64_t vector_parts();
std::uint64_t vector_parts_on_request();

// What the registers hold, leaving nothing out: into an area that others read, or into another thread's.
void save_whole_vectors(VectorState& state);
// The current thread goes on with registers as after a reset, or with what the other state holds, which gets the old
// area. Precondition: `own` is the current thread's.
void reset_vectors(VectorState& own);
void take_vectors(VectorState& own, VectorState& other);

// The current program touched a part of the state that its thread has not. True: now it has, and goes on; or its
// program ends, because there is no memory for it. False: it never asked for it.
bool answer_missing_part();

}  // namespace ingot::os::arch
