// A timerfd: readable once its time has come. It has no timer of its own: whoever waits for it asks when that will be
// and sleeps no longer, so a timer nobody waits for costs nothing.
#pragma once

#include "os/file/file_description.h"
#include "os/file/volume.h"

namespace ingot::os {

enum class TimerClock : std::uint8_t { monotonic, realtime };

struct TimerSetting {
  Nanoseconds next;      // of its clock; none: not armed
  Nanoseconds interval;  // none: it comes once
};

class TimerFile : public FileDescription {
 public:
  static Answer<Reference<FileDescription>> create(Allocator& heap, TimeSource& time, TimerClock clock,
                                                   std::uint32_t flags);

  enum class Start : std::uint8_t { relative, absolute };
  // Both answer how long it is until the next time, and the interval.
  TimerSetting set(TimerSetting setting, Start start);
  TimerSetting get();

 protected:
  using FileDescription::FileDescription;
  ~TimerFile() = default;

 private:
  virtual TimerSetting exchange(const TimerSetting* setting, Start start) = 0;
};

}  // namespace ingot::os
