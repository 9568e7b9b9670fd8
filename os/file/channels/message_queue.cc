#include "os/file/channels/message_queue.h"

#include <algorithm>

namespace ingot::os {
namespace {

// A queue as a program has opened it: its calls are its own, but it can be waited for like any file.
class QueueFile final : public FileDescription {
 public:
  QueueFile(Reference<MessageQueue> queue, std::uint32_t flags) : FileDescription(flags), queue_(std::move(queue)) {}
  // As on Linux, whoever closes a queue has asked for nothing any more.
  ~QueueFile() { queue_->drop_notification(); }

  Answer<FileStatus> status() override { return queue_->status(); }
  std::uint32_t poll() override { return queue_->poll(); }
  PollSource* poll_source() override { return &queue_->source(); }
  std::string_view anonymous_name() const override { return "anon_inode:[mqueue]"; }
  MessageQueue* as_message_queue() override { return queue_.get(); }

 private:
  Reference<MessageQueue> queue_;
};

}  // namespace

MessageQueue::MessageQueue(QueueNames& names, std::string_view name, QueueSize size, std::uint32_t permissions,
                           Nanoseconds made)
    : names_(names), name_letters_(name.size()), size_(size), permissions_(permissions), made_(made) {
  std::copy(name.begin(), name.end(), name_.begin());
}

MessageQueue::~MessageQueue() { names_.give_back(size_); }

std::size_t MessageQueue::count() {
  return state_.with([](State& it) { return it.messages.count(); });
}

FileStatus MessageQueue::status() const {
  FileStatus status;
  status.permissions = permissions_;
  status.times = {made_, made_, made_};
  return status;
}

std::uint32_t MessageQueue::poll() {
  const std::size_t waiting = count();
  return (waiting != 0 ? poll_event::readable : 0) |
         (waiting < static_cast<std::size_t>(size_.messages) ? poll_event::writable : 0);
}

Answer<std::optional<QueueNotification>> MessageQueue::send(Reference<Message>& message) {
  std::optional<QueueNotification> due;
  const bool sent = state_.with([&](State& it) {
    if (it.messages.count() == static_cast<std::size_t>(size_.messages)) return false;
    it.messages.add(std::move(message));
    if (it.messages.count() == it.receivers + 1) due = std::exchange(it.notification, std::nullopt);
    return true;
  });
  if (!sent) return Errno::eagain;
  source_.notify(poll_event::readable);
  return due;
}

Answer<Reference<Message>> MessageQueue::receive(bool& waits, bool will_wait) {
  Reference<Message> message = state_.with([&](State& it) {
    Reference<Message> first = it.messages.take_first();
    if (waits) --it.receivers;
    waits = will_wait && !first;
    if (waits) ++it.receivers;
    return first;
  });
  if (!message) return Errno::eagain;
  source_.notify(poll_event::writable);
  return message;
}

Answer<void> MessageQueue::set_notification(const QueueNotification& wanted) {
  return state_.with([&](State& it) -> Answer<void> {
    if (it.notification) return Errno::ebusy;
    it.notification = wanted;
    return {};
  });
}

void MessageQueue::drop_notification() {
  state_.with([](State& it) { it.notification.reset(); });
}

QueueNames::~QueueNames() {
  while (MessageQueue* queue = queues_.with([](Queues& it) { return it.named.pop_front(); })) queue->drop_reference();
}

MessageQueue* QueueNames::Queues::find(std::string_view name) {
  for (MessageQueue& queue : named) {
    if (queue.name() == name) return &queue;
  }
  return nullptr;
}

std::uint64_t QueueNames::bytes_of(QueueSize size) {
  return static_cast<std::uint64_t>(size.messages) * (static_cast<std::uint64_t>(size.message_bytes) + sizeof(Message));
}

void QueueNames::give_back(QueueSize size) {
  queues_.with([&](Queues& it) { it.bytes -= bytes_of(size); });
}

Answer<Reference<MessageQueue>> QueueNames::find_or_create(std::string_view name, std::uint32_t flags,
                                                           std::uint32_t permissions, std::optional<QueueSize> size) {
  const bool creates = (flags & open_flag::create) != 0;
  const QueueSize wanted = size.value_or(QueueSize());
  const Nanoseconds now = time_.realtime();
  return queues_.with([&](Queues& it) -> Answer<Reference<MessageQueue>> {
    if (MessageQueue* const queue = it.find(name); queue != nullptr) {
      if (creates && (flags & open_flag::exclusive) != 0) return Errno::eexist;
      return Reference<MessageQueue>(*queue);
    }
    if (!creates) return Errno::enoent;
    if (wanted.messages <= 0 || wanted.messages > queue_limit::messages || wanted.message_bytes <= 0 ||
        wanted.message_bytes > queue_limit::message_bytes) {
      return Errno::einval;
    }
    if (it.count == queue_limit::queues) return Errno::enospc;
    if (bytes_of(wanted) > queue_limit::bytes - it.bytes) return Errno::emfile;
    Reference<MessageQueue> made = TRY(make_reference<MessageQueue>(heap_, *this, name, wanted, permissions, now));
    it.bytes += bytes_of(wanted);
    ++it.count;
    it.named.push_back(*Reference<MessageQueue>(made).leak());  // its name is an owner
    return made;
  });
}

Answer<Reference<FileDescription>> QueueNames::open(std::string_view name, std::uint32_t flags,
                                                    std::uint32_t permissions, std::optional<QueueSize> size) {
  Reference<MessageQueue> queue = TRY(find_or_create(name, flags, permissions, size));
  const std::uint32_t kept = flags & (open_flag::access_mask | open_flag::non_blocking);
  return Reference<FileDescription>(TRY(make_reference<QueueFile>(heap_, std::move(queue), kept)));
}

Answer<void> QueueNames::remove(std::string_view name) {
  // Its last owner goes outside of the lock, which it needs.
  const Reference<MessageQueue> removed = queues_.with([&](Queues& it) -> Reference<MessageQueue> {
    MessageQueue* const queue = it.find(name);
    if (queue == nullptr) return {};
    it.named.remove(*queue);
    --it.count;
    return Reference<MessageQueue>::adopt(*queue);
  });
  return removed ? Answer<void>() : Errno::enoent;
}

}  // namespace ingot::os
