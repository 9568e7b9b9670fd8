// Message: bytes that stay together on their way, between sockets or through a message queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/intrusive_list.h"
#include "os/file/transfer.h"
#include "os/memory/allocator.h"
#include "os/memory/shared.h"

namespace ingot::os {

class Message final : public Shared, public ListLink<struct MessageTag> {
 public:
  // The next bytes of the transfer, copied before any lock is taken. EFAULT where a part of them is missing.
  static Answer<Reference<Message>> create(Allocator& heap, Transfer& from, std::size_t bytes,
                                           std::uint32_t priority = 0) {
    auto* block = bytes == 0 ? nullptr : static_cast<std::byte*>(TRY(heap.allocate(bytes, 1)));
    Result<Reference<Message>> made = make_reference<Message>(heap, std::span(block, bytes), heap, priority);
    if (!made.ok()) {
      if (block != nullptr) heap.free(block, bytes, 1);
      return made.error();
    }
    if (bytes != 0 && TRY(from.take(made.value()->bytes_)) < bytes) return Errno::efault;
    return std::move(made).value();
  }
  Message(std::span<std::byte> bytes, Allocator& heap, std::uint32_t priority)
      : bytes_(bytes), heap_(heap), priority_(priority) {}
  ~Message() {
    if (!bytes_.empty()) heap_.free(bytes_.data(), bytes_.size(), 1);
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::uint32_t priority() const { return priority_; }

  // Between sockets, and guarded by their lock: who sent it, and how many bytes a stream's reader has had.
  Reference<Shared> sender;
  std::size_t taken = 0;

 private:
  std::span<std::byte> bytes_;
  Allocator& heap_;
  std::uint32_t priority_;
};

// Owns what is in it. It has no lock of its own.
class MessageList {
 public:
  ~MessageList() {
    while (take_first()) {
    }
  }

  std::size_t count() const { return count_; }
  Message* first() { return list_.first(); }
  Message* after(Message& message) { return list_.after(message); }
  // Behind all of the same priority or a higher one.
  void add(Reference<Message> message) {
    Message& added = *message.leak();
    Message* before = list_.last();
    while (before != nullptr && before->priority() < added.priority()) before = list_.before(*before);
    before == nullptr ? list_.push_front(added) : list_.insert_after(*before, added);
    ++count_;
  }
  // None when it is empty.
  Reference<Message> take_first() { return list_.is_empty() ? Reference<Message>() : take(*list_.first()); }
  // Precondition: it is in the list.
  Reference<Message> take(Message& message) {
    list_.remove(message);
    --count_;
    return Reference<Message>::adopt(message);
  }

 private:
  IntrusiveList<Message, MessageTag> list_;
  std::size_t count_ = 0;
};

}  // namespace ingot::os
