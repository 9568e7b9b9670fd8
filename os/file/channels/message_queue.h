// POSIX message queues (man 7 mq_overview): messages by priority, under names of their own, which are no files' names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/intrusive_list.h"
#include "os/file/channels/message.h"
#include "os/file/file_description.h"
#include "os/file/node.h"

namespace ingot::os {

class QueueNames;

// Linux's, for a superuser.
namespace queue_limit {
inline constexpr std::int64_t messages = 65'536;         // HARD_MSGMAX
inline constexpr std::int64_t message_bytes = 16 << 20;  // HARD_MSGSIZEMAX
inline constexpr std::uint32_t queues = 256;             // /proc/sys/fs/mqueue/queues_max
inline constexpr std::uint64_t bytes = 819'200;          // RLIMIT_MSGQUEUE: of all queues, were they full
inline constexpr std::uint32_t priorities = 32'768;      // MQ_PRIO_MAX
}  // namespace queue_limit

// What a queue gets that nobody describes: Linux's msg_default and msgsize_default.
struct QueueSize {
  std::int64_t messages = 10;
  std::int64_t message_bytes = 8192;
};

// What mq_notify asks for: a signal when a message comes to an empty queue for which nobody waits.
struct QueueNotification {
  std::uint32_t signal = 0;  // none: only the next one who asks is refused
  std::uint64_t value = 0;
};

class MessageQueue final : public Shared, public ListLink<struct QueueNamesTag> {
 public:
  MessageQueue(QueueNames& names, std::string_view name, QueueSize size, std::uint32_t permissions, Nanoseconds made);
  ~MessageQueue();

  std::string_view name() const { return {name_.data(), name_letters_}; }
  QueueSize size() const { return size_; }
  std::size_t count();
  FileStatus status() const;
  PollSource& source() { return source_; }
  std::uint32_t poll();

  // Takes the message, or leaves it where it is: EAGAIN, the queue is full. Answers whom to tell, once.
  Answer<std::optional<QueueNotification>> send(Reference<Message>& message);
  // EAGAIN: it is empty. Somebody who is going to sleep for a message says so by `will_wait`, and is counted for as
  // long as `waits` says: then a message is for him, and nobody is told of it.
  Answer<Reference<Message>> receive(bool& waits, bool will_wait);

  Answer<void> set_notification(const QueueNotification& wanted);  // EBUSY: there is one
  void drop_notification();

 private:
  struct State {
    MessageList messages;
    std::size_t receivers = 0;  // that sleep
    std::optional<QueueNotification> notification;
  };

  QueueNames& names_;
  std::array<char, most_name_bytes> name_;
  std::size_t name_letters_;
  QueueSize size_;
  std::uint32_t permissions_;
  Nanoseconds made_;
  Locked<State> state_{LockRank::file_pages};
  PollSource source_;
};

// The queues of a process by name. It outlives them.
class QueueNames {
 public:
  QueueNames(Allocator& heap, TimeSource& time) : heap_(heap), time_(time) {}
  QueueNames(const QueueNames&) = delete;
  QueueNames& operator=(const QueueNames&) = delete;
  ~QueueNames();

  // `flags` as of open. ENOENT, EEXIST; EINVAL: a size that there cannot be; ENOSPC: too many queues; EMFILE: too large
  // all together. The name is without the slash that programs begin it with.
  Answer<Reference<FileDescription>> open(std::string_view name, std::uint32_t flags, std::uint32_t permissions,
                                          std::optional<QueueSize> size);
  Answer<void> remove(std::string_view name);

 private:
  friend class MessageQueue;
  struct Queues {
    IntrusiveList<MessageQueue, QueueNamesTag> named;
    std::uint32_t count = 0;  // of those that have names
    std::uint64_t bytes = 0;  // of all
    MessageQueue* find(std::string_view name);
  };
  static std::uint64_t bytes_of(QueueSize size);
  Answer<Reference<MessageQueue>> find_or_create(std::string_view name, std::uint32_t flags, std::uint32_t permissions,
                                                 std::optional<QueueSize> size);
  void give_back(QueueSize size);

  Allocator& heap_;
  TimeSource& time_;
  Locked<Queues> queues_{LockRank::descriptors};
};

}  // namespace ingot::os
