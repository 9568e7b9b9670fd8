// Files that have no name: pipes, eventfds, timerfds, memory.
#include "os/file/channels/event_file.h"
#include "os/file/channels/pipe.h"
#include "os/file/channels/timer_file.h"
#include "os/file/memory_file.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/table.h"
#include "os/syscall/time_values.h"

namespace ingot::os {

namespace {

OnExecute on_execute_of_flags(std::uint32_t flags) {
  return (flags & open_flag::close_on_execute) != 0 ? OnExecute::closes : OnExecute::keeps;
}
constexpr std::uint32_t usual_flags = open_flag::close_on_execute | open_flag::non_blocking;

struct TwoDescriptors {
  std::int32_t reading, writing;
};

Answer<void> make_pipe_with(Caller& caller, UserPointer<TwoDescriptors> to, std::uint32_t flags) {
  if ((flags & ~usual_flags) != 0) return Errno::einval;
  ProcessFiles& files = files_of(caller);
  PipeEnds ends = TRY(make_pipe(files.services(), flags & open_flag::non_blocking));
  DescriptorTable& table = files.descriptors();
  const OnExecute on_execute = on_execute_of_flags(flags);
  TwoDescriptors numbers{};
  numbers.reading = TRY(table.add(std::move(ends.reading), on_execute));
  const Answer<std::int32_t> writing = table.add(std::move(ends.writing), on_execute);
  if (writing.ok()) {
    numbers.writing = writing.value();
    const Answer<void> told = to.write(numbers);
    if (told.ok()) return {};
    static_cast<void>(table.close(numbers.writing));
    static_cast<void>(table.close(numbers.reading));
    return told.error();
  }
  static_cast<void>(table.close(numbers.reading));
  return writing.error();
}
Answer<void> make_plain_pipe(Caller& caller, UserPointer<TwoDescriptors> to) { return make_pipe_with(caller, to, 0); }

Answer<std::int32_t> make_event_with(Caller& caller, std::uint32_t count, std::uint32_t flags) {
  constexpr std::uint32_t semaphore = 1;  // EFD_SEMAPHORE
  if ((flags & ~(usual_flags | semaphore)) != 0) return Errno::einval;
  ProcessFiles& files = files_of(caller);
  const EventReads reads = (flags & semaphore) != 0 ? EventReads::one : EventReads::all;
  Reference<FileDescription> file = TRY(make_event_file(files.heap(), count, reads, flags & open_flag::non_blocking));
  return files.descriptors().add(std::move(file), on_execute_of_flags(flags));
}
Answer<std::int32_t> make_event(Caller& caller, std::uint32_t count) { return make_event_with(caller, count, 0); }

// struct itimerspec.
struct TimerSpecification {
  TimeSpecification interval, next;
};

Answer<std::int32_t> make_timer(Caller& caller, std::uint32_t clock, std::uint32_t flags) {
  constexpr std::uint32_t realtime = 0, monotonic = 1, since_boot = 7;
  if (clock != realtime && clock != monotonic && clock != since_boot) return Errno::einval;
  if ((flags & ~usual_flags) != 0) return Errno::einval;
  ProcessFiles& files = files_of(caller);
  Reference<FileDescription> file = TRY(TimerFile::create(
      files.heap(), *files.services().time, clock == realtime ? TimerClock::realtime : TimerClock::monotonic,
      flags & open_flag::non_blocking));
  return files.descriptors().add(std::move(file), on_execute_of_flags(flags));
}
TimerSpecification specification_of(const TimerSetting& it) {
  return {TimeSpecification::of(it.interval), TimeSpecification::of(it.next)};
}
Answer<void> set_timer(Caller& caller, std::int32_t descriptor, std::uint32_t flags,
                       UserPointer<TimerSpecification> setting, UserPointer<TimerSpecification> before) {
  constexpr std::uint32_t absolute = 1, cancel_on_set = 2;  // TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET
  if ((flags & ~(absolute | cancel_on_set)) != 0) return Errno::einval;
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (file->as_timer() == nullptr) return Errno::einval;
  const TimerSpecification wanted = TRY(setting.read());
  TimerSetting values;
  values.interval = TRY(wanted.interval.nanoseconds());
  values.next = TRY(wanted.next.nanoseconds());
  const auto start = (flags & absolute) != 0 ? TimerFile::Start::absolute : TimerFile::Start::relative;
  return before.write_if_wanted(specification_of(file->as_timer()->set(values, start)));
}
Answer<void> get_timer(Caller& caller, std::int32_t descriptor, UserPointer<TimerSpecification> to) {
  const Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (file->as_timer() == nullptr) return Errno::einval;
  return to.write(specification_of(file->as_timer()->get()));
}

// Its name is for people who look at /proc: there it is "(deleted)", as all without a place.
Answer<std::int32_t> make_memory(Caller& caller, UserText name, std::uint32_t flags) {
  constexpr std::uint32_t close_on_execute = 1, sealing = 2;  // MFD_CLOEXEC, MFD_ALLOW_SEALING
  constexpr std::size_t longest = 249;
  if ((flags & ~(close_on_execute | sealing)) != 0) return Errno::einval;
  char letters[longest + 1];
  const Answer<std::size_t> read = name.read(letters);
  if (!read.ok()) return read.error() == Errno::enametoolong ? Errno::einval : read.error();
  ProcessFiles& files = files_of(caller);
  const Reference<Node> node = TRY(make_memory_file(files.writable_volume(), 0777));
  Reference<FileDescription> file = TRY(node->open(open_flag::read_write));
  return files.descriptors().add(std::move(file),
                                 (flags & close_on_execute) != 0 ? OnExecute::closes : OnExecute::keeps);
}

constexpr SystemCall rows[] = {
    system_call<&make_pipe_with>("pipe2"),      system_call<&make_plain_pipe>("pipe"),
    system_call<&make_event_with>("eventfd2"),  system_call<&make_event>("eventfd"),
    system_call<&make_timer>("timerfd_create"), system_call<&set_timer>("timerfd_settime"),
    system_call<&get_timer>("timerfd_gettime"), system_call<&make_memory>("memfd_create"),
};

}  // namespace

std::span<const SystemCall> event_calls() { return rows; }

}  // namespace ingot::os
