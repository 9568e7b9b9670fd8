// The node: who may open it, what it shows, and how a program waits.
#include "os/gpu/accelerator_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "os/file/control_caller.h"
#include "os/file/file_fixture.h"
#include "os/gpu/fake_worker.h"

namespace ingot::os {
namespace {

using accelerator::NodeUnmap;
using accelerator::NodeWait;

// A thread for which something happens while it sleeps; nothing: its time is over.
struct SleepingCaller final : ControlCaller {
  explicit SleepingCaller(FakeWorker& clock) : worker(clock) {}
  TransferMemory& memory() override { return bytes; }
  Process* process() override { return nullptr; }
  UserThread* thread() override { return nullptr; }
  Answer<std::int32_t> give(Reference<FileDescription>, OnExecute) override { return Errno::emfile; }
  void take_back(std::int32_t) override {}
  Answer<void> wait(PollSource&, Condition& condition, std::optional<Nanoseconds> deadline) override {
    ++sleeps;
    if (happens) happens();
    if (condition.holds()) return {};
    if (is_interrupted) return Errno::restart;
    worker.time = *deadline;
    return Errno::etimedout;
  }

  FakeWorker& worker;
  file_fixture::HoledMemory bytes;
  std::function<void()> happens;
  bool is_interrupted = false;
  int sleeps = 0;
};

class AcceleratorFiles : public file_fixture::Files {
 protected:
  AcceleratorFiles() {
    EXPECT_TRUE(logic.start(std::vector<MemoryRange>{{PhysicalAddress(0), memory_bytes, MemoryKind::usable}}).ok());
    node = make_device_file(make_volume(Volume::Writing::refused), device, make_device_number(10, 241), 0600).value();
  }
  Answer<Reference<FileDescription>> open(std::uint32_t flags = open_flag::read_write) { return node->open(flags); }
  void rung() { bell.count.fetch_add(1, MemoryOrder::relaxed); }
  Answer<std::int64_t> wait(FileDescription& file, std::uint64_t nanoseconds) {
    EXPECT_TRUE(caller.bytes.write(64, NodeWait{nanoseconds}).ok());
    return file.control(accelerator::node_wait, 64, caller);
  }

  FakeWorker worker{memory.window()};
  Accelerator logic{worker.words(), {heap, frames, memory.window()}, worker};
  AcceleratorDevice::Bell bell;
  AcceleratorDevice device{logic, bell, worker, PhysicalAddress(0xc0080000), heap};
  Reference<Node> node;
  SleepingCaller caller{worker};
};

TEST_F(AcceleratorFiles, AreOpenedByOneToReadAndWrite) {
  EXPECT_EQ(open(open_flag::read_only).error(), Errno::eacces);
  EXPECT_EQ(open(open_flag::write_only).error(), Errno::eacces);
  Reference<FileDescription> file = open().value();
  EXPECT_EQ(open().error(), Errno::ebusy);
  file.reset();
  file = open().value();
  heap.left = 0;
  file.reset();
  EXPECT_EQ(open().error(), Errno::enomem);
  heap.left = 1000;
  EXPECT_TRUE(open().ok());  // nothing was kept of the one that failed
  worker.reap();
  EXPECT_EQ(open().error(), Errno::enxio);
}

TEST_F(AcceleratorFiles, ShowTheClientsPartAlone) {
  const Reference<FileDescription> file = open().value();
  const Access access = Access::read | Access::write;
  const FileMapping shown = file->mapping(0, accelerator::client_bytes, access).value();
  EXPECT_EQ(shown.object->fault(page_bytes, PageSize::small).value().physical, PhysicalAddress(0xc0081000));
  EXPECT_FALSE(shown.object->fault(accelerator::client_bytes, PageSize::small).ok());
  EXPECT_EQ(file->mapping(0, accelerator::shared_bytes, access).error(), Errno::einval);
  EXPECT_EQ(file->mapping(accelerator::client_bytes, page_bytes, access).error(), Errno::einval);
  EXPECT_EQ(file->mapping(0, page_bytes, every_access).error(), Errno::eacces);
}

TEST_F(AcceleratorFiles, TellOfEachBellOnce) {
  const Reference<FileDescription> file = open().value();
  EXPECT_EQ(file->poll(), 0u);
  rung();
  EXPECT_EQ(file->poll(), poll_event::readable);
  rung();
  EXPECT_EQ(wait(*file, 1000).value(), 1);
  EXPECT_EQ(caller.sleeps, 0);
  EXPECT_EQ(file->poll(), 0u);
  caller.happens = [&] {
    if (caller.sleeps == 3) rung();
  };
  EXPECT_EQ(wait(*file, 3'000'000'000).value(), 1);  // the heart is listened to meanwhile
  EXPECT_EQ(caller.sleeps, 3);
}

TEST_F(AcceleratorFiles, WaitAsLongAsIsWantedAndNoLonger) {
  const Reference<FileDescription> file = open().value();
  caller.happens = [&] { worker.words().memory().heartbeat.fetch_add(1, MemoryOrder::relaxed); };
  EXPECT_EQ(wait(*file, 0).value(), 0);
  EXPECT_EQ(caller.sleeps, 0);
  const Nanoseconds before = worker.time;
  EXPECT_EQ(wait(*file, 5'050'000'000).value(), 0);
  EXPECT_EQ(worker.time - before, Nanoseconds(5'050'000'000));
  caller.is_interrupted = true;
  EXPECT_EQ(wait(*file, ~std::uint64_t{0}).error(), Errno::eintr);
  EXPECT_EQ(file->control(accelerator::node_wait, caller.bytes.end, caller).error(), Errno::efault);
}

TEST_F(AcceleratorFiles, TellOfTheWorkersEnd) {
  const Reference<FileDescription> file = open().value();
  caller.happens = [&] {
    worker.end(accelerator::WorkerState::faulted);
    rung();
  };
  EXPECT_EQ(wait(*file, 1'000'000'000).value(), 1);  // there may be a last answer, and a fault
  EXPECT_EQ(wait(*file, 1'000'000'000).error(), Errno::eio);
  EXPECT_NE(file->poll() & poll_event::error, 0u);
  worker.reap();
}

TEST_F(AcceleratorFiles, MissAHeartThatStandsStill) {
  const Reference<FileDescription> file = open().value();
  const Nanoseconds before = worker.time;
  EXPECT_EQ(wait(*file, 60'000'000'000).error(), Errno::eio);
  EXPECT_LT(worker.time - before, Nanoseconds(3'000'000'000));
  worker.reap();
}

TEST_F(AcceleratorFiles, RingAndRefuse) {
  const Reference<FileDescription> file = open().value();
  const int rings = worker.rings;
  EXPECT_EQ(file->control(accelerator::node_ring, 0, caller).value(), 0);
  EXPECT_EQ(worker.rings, rings + 1);
  EXPECT_TRUE(caller.bytes.write(64, NodeUnmap{4096}).ok());
  EXPECT_EQ(file->control(accelerator::node_unmap, 64, caller).error(), Errno::einval);
  EXPECT_EQ(file->control(accelerator::node_unmap, caller.bytes.end, caller).error(), Errno::efault);
  EXPECT_EQ(file->control(accelerator::node_map, caller.bytes.end, caller).error(), Errno::efault);
  EXPECT_EQ(file->control(accelerator::node_map, 64, caller).error(), Errno::efault);  // the kernel has no such memory
  EXPECT_EQ(file->control(0x5401, 64, caller).error(), Errno::enotty);
}

}  // namespace
}  // namespace ingot::os
