// Handlers of a program that is not there.
#pragma once

#include <optional>

#include "os/arch/hosted/cpu.h"
#include "os/process/signal.h"

namespace ingot::os::arch {

struct SignalFrameRequest {
  const SignalInformation& information;
  const SignalAction& action;
  SignalSet blocked;
  const AlternateStack& stack;
};
inline std::uint64_t signal_frame_bytes(std::uint64_t) { return 2048; }
inline bool push_signal_frame(TrapFrame&, VectorState&, const SignalFrameRequest&) { return false; }

struct ReturnedSignalFrame {
  SignalSet blocked;
  AlternateStack stack;
};
inline std::optional<ReturnedSignalFrame> pop_signal_frame(TrapFrame&, VectorState&, VectorState&) { return {}; }

}  // namespace ingot::os::arch
