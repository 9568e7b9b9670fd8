// Message queues: priorities, limits, and who is told of a message.
#include "os/file/channels/message_queue.h"

#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

class MessageQueues : public Files {
 protected:
  static constexpr std::uint32_t create = open_flag::create | open_flag::read_write;

  Reference<FileDescription> make(std::string_view name, QueueSize size = {3, 16}) {
    return names_of_queues.open(name, create, 0600, size).value();
  }
  Reference<Message> message(std::string_view text, std::uint32_t priority = 0) {
    KernelTransfer transfer(std::as_bytes(std::span(text)));
    return Message::create(heap, transfer, text.size(), priority).value();
  }
  Answer<std::optional<QueueNotification>> send(FileDescription& queue, std::string_view text,
                                                std::uint32_t priority = 0) {
    Reference<Message> sent = message(text, priority);
    return queue.as_message_queue()->send(sent);
  }
  static std::string receive(FileDescription& queue) {
    bool waits = false;
    const Answer<Reference<Message>> got = queue.as_message_queue()->receive(waits, false);
    if (!got.ok()) return std::string(name_of(got.error()));
    return std::string(reinterpret_cast<const char*>(got.value()->bytes().data()), got.value()->bytes().size());
  }

  QueueNames names_of_queues{heap, clock};
};

TEST_F(MessageQueues, GiveTheHighestPriorityFirstAndTheOldestOfIt) {
  const Reference<FileDescription> queue = make("q", {10, 16});
  EXPECT_EQ(queue->poll(), poll_event::writable);
  for (const auto& [text, priority] :
       {std::pair{"low", 1u}, {"high", 9u}, {"low again", 1u}, {"", 5u}, {"higher", 9u}}) {
    EXPECT_TRUE(send(*queue, text, priority).ok());
  }
  EXPECT_EQ(queue->poll(), poll_event::readable | poll_event::writable);
  for (const std::string_view expected : {"high", "higher", "", "low", "low again", "EAGAIN"}) {
    EXPECT_EQ(receive(*queue), expected);
  }
}

TEST_F(MessageQueues, AFullOneLeavesTheMessageToItsSender) {
  const Reference<FileDescription> queue = make("q");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(send(*queue, "x").ok());
  EXPECT_EQ(queue->poll(), poll_event::readable);
  Reference<Message> late = message("late");
  EXPECT_EQ(queue->as_message_queue()->send(late).error(), Errno::eagain);
  ASSERT_TRUE(late);
  EXPECT_EQ(receive(*queue), "x");
  EXPECT_TRUE(queue->as_message_queue()->send(late).ok());
}

TEST_F(MessageQueues, NamesAreFoundCreatedAndRemovedAsFilesAre) {
  EXPECT_EQ(names_of_queues.open("q", open_flag::read_only, 0, {}).error(), Errno::enoent);
  const Reference<FileDescription> one = make("q");
  EXPECT_EQ(names_of_queues.open("q", create | open_flag::exclusive, 0, {}).error(), Errno::eexist);
  const Reference<FileDescription> same = names_of_queues.open("q", open_flag::read_only, 0, {}).value();
  EXPECT_EQ(one->as_message_queue(), same->as_message_queue());
  EXPECT_FALSE(same->writable());
  EXPECT_TRUE(send(*one, "kept").ok());
  EXPECT_TRUE(names_of_queues.remove("q").ok());
  EXPECT_EQ(names_of_queues.remove("q").error(), Errno::enoent);
  EXPECT_EQ(receive(*same), "kept");  // it lives on without a name
  const Reference<FileDescription> other = make("q");
  EXPECT_NE(one->as_message_queue(), other->as_message_queue());
}

TEST_F(MessageQueues, AreHeldToTheirLimits) {
  for (const QueueSize wrong :
       {QueueSize{0, 1}, {1, 0}, {-1, 1}, {65'537, 1}, {1, (16 << 20) + 1}, {INT64_MAX, INT64_MAX}}) {
    EXPECT_EQ(names_of_queues.open("q", create, 0600, wrong).error(), Errno::einval);
  }
  std::vector<Reference<FileDescription>> large;
  Errno error{0};
  for (int i = 0; error == Errno{0} && i < 100; ++i) {
    Answer<Reference<FileDescription>> queue = names_of_queues.open(std::to_string(i), create, 0600, {});
    if (!queue.ok()) error = queue.error();
    if (queue.ok()) large.push_back(std::move(queue).value());
  }
  EXPECT_EQ(error, Errno::emfile);
  EXPECT_EQ(large.size(), 9u);  // as on Linux
  EXPECT_TRUE(names_of_queues.remove("0").ok());
  EXPECT_EQ(names_of_queues.open("more", create, 0600, {}).error(), Errno::emfile);  // somebody still has it open
  large.front().reset();
  EXPECT_TRUE(names_of_queues.open("more", create, 0600, {}).ok());
}

TEST_F(MessageQueues, TooManyNamesAreEnospc) {
  for (std::uint32_t i = 0; i < queue_limit::queues; ++i) make(std::to_string(i), {1, 1});
  EXPECT_EQ(names_of_queues.open("more", create, 0600, QueueSize{1, 1}).error(), Errno::enospc);
}

TEST_F(MessageQueues, TellOnceOfAMessageThatComesToAnEmptyOne) {
  const Reference<FileDescription> queue = make("q");
  MessageQueue& it = *queue->as_message_queue();
  EXPECT_TRUE(it.set_notification({34, 7}).ok());
  EXPECT_EQ(it.set_notification({35, 8}).error(), Errno::ebusy);
  const std::optional<QueueNotification> due = send(*queue, "first").value();
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(due->signal, 34u);
  EXPECT_EQ(due->value, 7u);
  EXPECT_TRUE(it.set_notification({35, 8}).ok());
  EXPECT_FALSE(send(*queue, "second").value().has_value());  // it was not empty
  EXPECT_EQ(receive(*queue), "first");
  EXPECT_EQ(receive(*queue), "second");
  it.drop_notification();
  EXPECT_FALSE(send(*queue, "third").value().has_value());
}

TEST_F(MessageQueues, TellNobodyOfAMessageThatSomebodyWaitsFor) {
  const Reference<FileDescription> queue = make("q");
  MessageQueue& it = *queue->as_message_queue();
  EXPECT_TRUE(it.set_notification({34, 7}).ok());
  bool waits = false;
  EXPECT_EQ(it.receive(waits, true).error(), Errno::eagain);
  EXPECT_TRUE(waits);
  EXPECT_FALSE(send(*queue, "for him").value().has_value());
  EXPECT_TRUE(send(*queue, "for nobody yet").value().has_value());
  EXPECT_TRUE(it.receive(waits, true).ok());
  EXPECT_FALSE(waits);
}

TEST_F(MessageQueues, WhoeverClosesOneHasAskedForNothing) {
  const Reference<FileDescription> queue = make("q");
  Reference<FileDescription> same = make("q");
  EXPECT_TRUE(queue->as_message_queue()->set_notification({34, 7}).ok());
  same.reset();
  EXPECT_FALSE(send(*queue, "x").value().has_value());
}

TEST_F(MessageQueues, OneThatCannotBeMadeLeavesNothing) {
  for (int left = 0; left < 2; ++left) {
    heap.left = left;
    EXPECT_EQ(names_of_queues.open("q", create, 0600, QueueSize{1, 1}).error(), Errno::enomem) << left;
    static_cast<void>(names_of_queues.remove("q"));
  }
}

}  // namespace
}  // namespace ingot::os
