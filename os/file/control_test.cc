// What a driver may do for the caller of an ioctl: a driver that nobody has shows it.
#include "os/file/control_caller.h"

#include <algorithm>

#include "os/file/channels/event_file.h"
#include "os/file/descriptor_table.h"
#include "os/file/file_fixture.h"

namespace ingot::os {
namespace {

using namespace file_fixture;

// Takes a number, is done with it after a while, and then hands over an event that counts it.
class SlowDevice final : public FileDescription {
 public:
  static constexpr std::uint32_t run = 0x4701;
  struct Request {
    std::uint32_t number;
    std::int32_t descriptor;
  };

  explicit SlowDevice(Allocator& heap, std::uint32_t flags = 0)
      : FileDescription(flags | open_flag::read_write), heap_(heap) {}
  Answer<FileStatus> status() override { return FileStatus{}; }
  PollSource* poll_source() override { return &source_; }

  Answer<std::int64_t> control(std::uint32_t request, std::uint64_t argument, ControlCaller& caller) override {
    if (request != run) return Errno::enotty;
    Request wanted = TRY(caller.memory().read<Request>(argument));
    if (non_blocking() && !is_done) return Errno::eagain;
    ++running;
    const Answer<void> waited = caller.wait_until(source_, [&] { return is_done; });
    --running;
    TRY(waited);
    Reference<FileDescription> event = TRY(make_event_file(heap_, wanted.number, EventReads::all, 0));
    wanted.descriptor = TRY(caller.give(std::move(event), OnExecute::closes));
    const Answer<void> told = caller.memory().write(argument, wanted);
    if (!told.ok()) caller.take_back(wanted.descriptor);
    TRY(told);
    return std::int64_t{wanted.number};
  }
  void finish() {
    is_done = true;
    source_.notify(poll_event::readable);
  }

  bool is_done = false;
  int running = 0;

 private:
  Allocator& heap_;
  PollSource source_;
};

// A thread that sleeps is one for which something happens meanwhile.
struct TestCaller final : ControlCaller {
  explicit TestCaller(Allocator& heap) : table(heap) {}

  TransferMemory& memory() override { return holed; }
  Process* process() override { return nullptr; }
  UserThread* thread() override { return nullptr; }
  Answer<std::int32_t> give(Reference<FileDescription> file, OnExecute on_execute) override {
    return table.add(std::move(file), on_execute);
  }
  void take_back(std::int32_t descriptor) override { EXPECT_TRUE(table.close(descriptor).ok()); }

  HoledMemory holed;
  DescriptorTable table;
  SlowDevice* finishes = nullptr;  // while it sleeps; none: a signal comes
  int sleeps = 0;

 private:
  struct Told final : PollWaiter {
    void notified(std::uint32_t) override { is_told = true; }
    bool is_told = false;
  };
  Answer<void> wait(PollSource& source, Condition& condition, std::optional<Nanoseconds>) override {
    Told told;
    source.join(told);
    const bool waits = !condition.holds();
    if (waits) ++sleeps;
    if (waits && finishes != nullptr) finishes->finish();
    source.leave(told);
    if (condition.holds()) {
      EXPECT_EQ(told.is_told, waits);
      return {};
    }
    return Errno::restart;
  }
};

class Controls : public Files {
 protected:
  using Request = SlowDevice::Request;
  Reference<SlowDevice> device = make_reference<SlowDevice>(heap, heap).value();
  TestCaller caller{heap};
};

TEST_F(Controls, ADriverSleepsForItsCallerAndGivesItAFile) {
  EXPECT_TRUE(caller.holed.write(64, Request{7, -1}).ok());
  caller.finishes = device.get();
  EXPECT_EQ(device->control(SlowDevice::run, 64, caller).value(), 7);
  EXPECT_EQ(caller.sleeps, 1);
  const Request answered = caller.holed.read<Request>(64).value();
  EXPECT_EQ(answered.descriptor, 0);
  EXPECT_EQ(caller.table.on_execute(0).value(), OnExecute::closes);
  EXPECT_EQ(caller.table.find(0).value()->poll() & poll_event::readable, poll_event::readable);
  EXPECT_EQ(device->control(SlowDevice::run, 64, caller).value(), 7);  // done already: no sleep
  EXPECT_EQ(caller.sleeps, 1);
}

TEST_F(Controls, ASignalEndsTheSleepAndNothingIsLeft) {
  EXPECT_EQ(device->control(SlowDevice::run, 64, caller).error(), Errno::restart);
  EXPECT_EQ(device->running, 0);
  EXPECT_EQ(caller.table.count(), 0u);
}

TEST_F(Controls, AFileWhoseNumberDoesNotArriveIsTakenBack) {
  device->finish();
  struct ReadOnly final : TransferMemory {
    std::size_t copy_out(std::uint64_t, std::span<const std::byte>) override { return 0; }
    std::size_t copy_in(std::span<std::byte> to, std::uint64_t) override {
      std::fill(to.begin(), to.end(), std::byte{1});
      return to.size();
    }
  };
  struct Unreachable final : ControlCaller {
    explicit Unreachable(TestCaller& caller) : other(caller) {}
    TransferMemory& memory() override { return bytes; }
    Process* process() override { return nullptr; }
    UserThread* thread() override { return nullptr; }
    Answer<std::int32_t> give(Reference<FileDescription> file, OnExecute how) override {
      return other.give(std::move(file), how);
    }
    void take_back(std::int32_t descriptor) override { other.take_back(descriptor); }
    ReadOnly bytes;
    TestCaller& other;

   private:
    Answer<void> wait(PollSource&, Condition&, std::optional<Nanoseconds>) override { return {}; }
  } unreachable(caller);
  EXPECT_EQ(device->control(SlowDevice::run, 64, unreachable).error(), Errno::efault);
  EXPECT_EQ(caller.table.count(), 0u);
}

TEST_F(Controls, ANonBlockingFileDoesNotSleep) {
  const Reference<SlowDevice> impatient = make_reference<SlowDevice>(heap, heap, open_flag::non_blocking).value();
  EXPECT_EQ(impatient->control(SlowDevice::run, 64, caller).error(), Errno::eagain);
  EXPECT_EQ(impatient->control(0x1234, 64, caller).error(), Errno::enotty);
  EXPECT_EQ(caller.sleeps, 0);
}

}  // namespace
}  // namespace ingot::os
