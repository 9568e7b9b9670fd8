// POSIX message queues (man 7 mq_overview).
#include "os/file/channels/message_queue.h"
#include "os/syscall/deadlines.h"
#include "os/syscall/file_arguments.h"
#include "os/syscall/file_wait.h"
#include "os/syscall/signal_event.h"
#include "os/syscall/table.h"

namespace ingot::os {

namespace {

// struct mq_attr.
struct QueueAttributes {
  std::int64_t flags, messages, message_bytes, waiting;
  std::int64_t reserved[4];
};
static_assert(sizeof(QueueAttributes) == 64);

// C libraries have taken the slash away that a program begins it with.
Answer<std::string_view> queue_name(PathArgument& text, UserText from) {
  const std::string_view name = TRY(text.read(from));
  if (name.empty()) return Errno::enoent;
  if (name.size() > most_name_bytes) return Errno::enametoolong;
  if (name == "." || name == ".." || name.find('/') != std::string_view::npos) return Errno::eacces;
  return name;
}

Answer<std::int32_t> open_queue(Caller& caller, UserText path, std::uint32_t flags, std::uint32_t permissions,
                                UserPointer<QueueAttributes> wanted) {
  std::optional<QueueSize> size;
  if (!wanted.is_null()) {
    const QueueAttributes attributes = TRY(wanted.read());
    size = QueueSize{attributes.messages, attributes.message_bytes};
  }
  PathArgument text(caller);
  const std::string_view name = TRY(queue_name(text, path));
  if ((flags & open_flag::access_mask) == open_flag::access_mask) return Errno::einval;
  ProcessFiles& files = files_of(caller);
  Reference<FileDescription> file = TRY(files.queues().open(name, flags, files.without_mask(permissions), size));
  return files.descriptors().add(std::move(file), OnExecute::closes);
}

Answer<void> remove_queue(Caller& caller, UserText path) {
  PathArgument text(caller);
  const std::string_view name = TRY(queue_name(text, path));
  return files_of(caller).queues().remove(name);
}

Answer<Reference<FileDescription>> queue_of(Caller& caller, std::int32_t descriptor) {
  Reference<FileDescription> file = TRY(file_of(caller, descriptor));
  if (file->as_message_queue() == nullptr) return Errno::ebadf;
  return file;
}

// By the wall clock. EINVAL for what is no time, whether the call would wait or not.
Answer<Until> until_time(Caller& caller, UserPointer<TimeSpecification> time) {
  if (time.is_null()) return Until();
  const TimeSpecification specification = TRY(time.read());
  const Nanoseconds wanted = TRY(specification.nanoseconds());
  return Until(caller.kernel.now() + (wanted - caller.kernel.wall_time()));
}

// attempt(will_wait), an Answer that is EAGAIN while the queue is not ready, until the time comes: ETIMEDOUT.
template <class Attempt>
auto attempt_until(Caller& caller, FileDescription& queue, Until deadline, Attempt&& attempt)
    -> decltype(attempt(false)) {
  auto answer = attempt(false);
  if (answer.ok() || answer.error() != Errno::eagain || queue.non_blocking()) return answer;
  FileWait wait(caller.thread);
  FileWait::Place place;
  place.join(wait, queue);
  while (true) {
    answer = attempt(true);
    if (answer.ok() || answer.error() != Errno::eagain) return answer;
    const Answer<void> slept = wait.sleep(deadline);
    if (slept.ok()) continue;
    answer = attempt(false);
    return answer.ok() ? decltype(answer)(std::move(answer)) : slept.error();
  }
}

Answer<void> send(Caller& caller, std::int32_t descriptor, UserPointer<void> from, std::uint64_t bytes,
                  std::uint32_t priority, UserPointer<TimeSpecification> time) {
  const Until deadline = TRY(until_time(caller, time));
  if (priority >= queue_limit::priorities) return Errno::einval;
  const Reference<FileDescription> file = TRY(queue_of(caller, descriptor));
  MessageQueue& queue = *file->as_message_queue();
  if (!file->writable()) return Errno::ebadf;
  if (bytes > static_cast<std::uint64_t>(queue.size().message_bytes)) return Errno::emsgsize;
  UserPieces pieces(files_of(caller).heap());
  pieces.set(from.address, bytes);
  UserTransferMemory memory;
  Transfer transfer = pieces.transfer(memory, 0);
  Reference<Message> message = TRY(Message::create(files_of(caller).heap(), transfer, transfer.left(), priority));
  const std::optional<QueueNotification> due =
      TRY(attempt_until(caller, *file, deadline, [&](bool) { return queue.send(message); }));
  if (!due || due->signal == 0) return {};
  auto information =
      SignalInformation::of(static_cast<Signal>(due->signal), signal_code::by_message_queue, caller.process.number());
  information.fields[1] = due->value;
  static_cast<void>(caller.process.send(information));  // a program that ends hears nothing
  return {};
}

Answer<std::uint64_t> receive(Caller& caller, std::int32_t descriptor, UserPointer<void> to, std::uint64_t room,
                              UserPointer<std::uint32_t> priority, UserPointer<TimeSpecification> time) {
  const Until deadline = TRY(until_time(caller, time));
  const Reference<FileDescription> file = TRY(queue_of(caller, descriptor));
  MessageQueue& queue = *file->as_message_queue();
  if (!file->readable()) return Errno::ebadf;
  if (room < static_cast<std::uint64_t>(queue.size().message_bytes)) return Errno::emsgsize;
  bool waits = false;
  const Reference<Message> message =
      TRY(attempt_until(caller, *file, deadline, [&](bool will_wait) { return queue.receive(waits, will_wait); }));
  const std::span<const std::byte> bytes = message->bytes();
  if (!copy_to_user(to.address, bytes.data(), bytes.size()).ok()) return Errno::efault;
  TRY(priority.write_if_wanted(message->priority()));
  return std::uint64_t{bytes.size()};
}

Answer<void> notify(Caller& caller, std::int32_t descriptor, UserPointer<SignalEvent> wanted) {
  QueueNotification notification;
  if (!wanted.is_null()) {
    const SignalEvent event = TRY(wanted.read());
    const auto number = static_cast<std::uint32_t>(event.number);
    switch (event.how) {
      case SignalEvent::none: break;
      case SignalEvent::send:
        if (number > signal_count) return Errno::einval;
        notification = {number, event.value};
        break;
      case SignalEvent::call:
        caller.kernel.log.warning(
            "mq_notify: expected SIGEV_SIGNAL or SIGEV_NONE, found SIGEV_THREAD, which needs netlink sockets: ENOSYS");
        return Errno::enosys;
      default: return Errno::einval;
    }
  }
  const Reference<FileDescription> file = TRY(queue_of(caller, descriptor));
  if (!wanted.is_null()) return file->as_message_queue()->set_notification(notification);
  file->as_message_queue()->drop_notification();
  return {};
}

// Of all that attributes tell, only O_NONBLOCK can be set.
Answer<void> exchange_attributes(Caller& caller, std::int32_t descriptor, UserPointer<QueueAttributes> wanted,
                                 UserPointer<QueueAttributes> before) {
  QueueAttributes attributes{};
  if (!wanted.is_null()) attributes = TRY(wanted.read());
  if ((attributes.flags & ~std::int64_t{open_flag::non_blocking}) != 0) return Errno::einval;
  const Reference<FileDescription> file = TRY(queue_of(caller, descriptor));
  MessageQueue& queue = *file->as_message_queue();
  QueueAttributes old{};
  old.flags = file->flags() & open_flag::non_blocking;
  old.messages = queue.size().messages;
  old.message_bytes = queue.size().message_bytes;
  old.waiting = static_cast<std::int64_t>(queue.count());
  if (!wanted.is_null()) {
    file->change_flags(open_flag::non_blocking, static_cast<std::uint32_t>(attributes.flags));
  }
  return before.write_if_wanted(old);
}

constexpr SystemCall rows[] = {
    system_call<&open_queue>("mq_open"), system_call<&remove_queue>("mq_unlink"),
    system_call<&send>("mq_timedsend"),  system_call<&receive>("mq_timedreceive"),
    system_call<&notify>("mq_notify"),   system_call<&exchange_attributes>("mq_getsetattr"),
};

}  // namespace

std::span<const SystemCall> queue_calls() { return rows; }

}  // namespace ingot::os
