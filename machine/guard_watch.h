// GuardWatch: what runs while it lives may touch guards, and is found out.
//
// A guard that is touched is noted and opened, and the instruction begins again. So a kernel that reads too far runs to
// its end, whichever of its threads did it: nothing is unwound, no worker is lost, and the caller goes on afterwards.
#pragma once

#include <signal.h>

#include <atomic>
#include <optional>
#include <string_view>

#include "machine/guarded_memory.h"

namespace ingot {

enum class AccessKind : std::uint8_t { read, write, unknown };
std::string_view name_of(AccessKind kind);

struct Trespass {
  const std::byte* address;  // the first byte that was not to be touched
  AccessKind kind;
};

// What becomes of an access to memory that is nobody's. There the instruction cannot begin again.
enum class StrayAccess : std::uint8_t {
  ends_program,  // as without a watch
  stops_thread,  // for good, so that another thread can tell: stray() says when
};

class GuardWatch {
 public:
  // One watch at a time in a program: signals have one handler.
  GuardWatch(GuardedMemory& memory, StrayAccess stray);
  ~GuardWatch();
  GuardWatch(const GuardWatch&) = delete;
  GuardWatch& operator=(const GuardWatch&) = delete;

  std::optional<Trespass> trespass() const;  // the first on a guard
  std::optional<Trespass> stray() const;     // the first elsewhere

 private:
  // Written by the first thread that comes, in its signal handler.
  class Note {
   public:
    void write(const Trespass& trespass);
    std::optional<Trespass> read() const;

   private:
    enum class Progress : std::uint8_t { blank, begun, written };
    std::atomic<Progress> progress_ = Progress::blank;
    Trespass trespass_{};
  };
  static void handle(int signal, siginfo_t* information, void* context);

  GuardedMemory& memory_;
  StrayAccess on_stray_;
  Note trespass_;
  Note stray_;
  std::array<struct sigaction, 2> previous_;
};

}  // namespace ingot
