// ControlCaller: who calls ioctl, and what a driver may do for it before it answers: reach its memory, let it sleep,
// give it open files. A test is one without a thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "os/file/poll.h"
#include "os/file/transfer.h"
#include "os/memory/shared.h"

namespace ingot::os {

class FileDescription;
class Process;
class UserThread;
enum class OnExecute : std::uint8_t;

class ControlCaller {
 public:
  // What addresses in the request and its argument point into.
  virtual TransferMemory& memory() = 0;
  // Whose thread asks, for a driver that pins its memory or counts what it uses; none: the kernel's own, or a test's.
  virtual Process* process() = 0;
  virtual UserThread* thread() = 0;

  // Sleeps until `done()` holds; it is looked at whenever the source says something. ETIMEDOUT; or a signal came, and
  // the driver takes back what it began and answers with that error. Non-blocking files do not come here: they say
  // EAGAIN.
  template <class Done>
  Answer<void> wait_until(PollSource& source, Done&& done, std::optional<Nanoseconds> deadline = {}) {
    struct Held final : Condition {
      explicit Held(Done& what) : done(what) {}
      bool holds() override { return done(); }
      Done& done;
    } condition(done);
    return wait(source, condition, deadline);
  }

  // A new descriptor of the caller's; EMFILE. One whose number does not reach the program is taken back.
  virtual Answer<std::int32_t> give(Reference<FileDescription> file, OnExecute on_execute) = 0;
  virtual void take_back(std::int32_t descriptor) = 0;

 protected:
  class Condition {
   public:
    virtual bool holds() = 0;

   protected:
    ~Condition() = default;
  };
  ~ControlCaller() = default;

 private:
  virtual Answer<void> wait(PollSource& source, Condition& condition, std::optional<Nanoseconds> deadline) = 0;
};

}  // namespace ingot::os
