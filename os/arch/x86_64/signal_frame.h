// The frame on a program's stack from which a signal's handler runs and returns. Its layout is Linux's (struct
// rt_sigframe of x86_64): libraries that unwind, debuggers and programs that read their own registers rely on it.
#pragma once

#include <optional>

#include "os/arch/x86_64/trap_frame.h"
#include "os/arch/x86_64/vector_state.h"
#include "os/process/signal.h"

namespace ingot::os::arch {

struct SignalFrameRequest {
  const SignalInformation& information;
  const SignalAction& action;
  SignalSet blocked;  // after the handler
  const AlternateStack& stack;
};

// What a frame takes of a stack, at most, with these parts of the vector state (user_vectors.h).
std::uint64_t signal_frame_bytes(std::uint64_t parts);

// The program goes on in the handler, with fresh vector registers. False: its stack has no room for the frame, or the
// handler is no address; the frame is what it was.
bool push_signal_frame(TrapFrame& frame, VectorState& vectors, const SignalFrameRequest& request);

struct ReturnedSignalFrame {
  SignalSet blocked;
  AlternateStack stack;
};
// The program goes on where the signal found it, or where the handler changed the frame to: with no rights but its own.
// Nothing: the frame is no frame. `room`: as large as the vectors, for what the frame says of them.
std::optional<ReturnedSignalFrame> pop_signal_frame(TrapFrame& frame, VectorState& vectors, VectorState& room);

}  // namespace ingot::os::arch
