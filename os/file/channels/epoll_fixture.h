// What tests of epolls share: sinks and sleepers that remember what they were told.
#pragma once

#include <utility>
#include <vector>

#include "os/file/channels/epoll.h"
#include "os/file/file_fixture.h"

namespace ingot::os::file_fixture {

struct CountingWaiter final : PollWaiter {
  void notified(std::uint32_t) override { ++count; }
  int count = 0;
};

struct RememberingSink final : EpollSink {
  Answer<void> add(std::uint32_t events, std::uint64_t data) override {
    if (full) return Errno::efault;
    told.emplace_back(data, events);
    return {};
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> told;
  bool full = false;
};

class EpollFiles : public Files {
 protected:
  using Told = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

  static Answer<std::uint64_t> read_number(FileDescription& file) {
    std::uint64_t number = 0;
    KernelTransfer transfer(std::as_bytes(std::span(&number, 1)));
    const Answer<std::size_t> moved = file.read(transfer);
    if (!moved.ok()) return moved.error();
    EXPECT_EQ(moved.value(), 8u);
    return number;
  }
  // As epoll_ctl does: of a file that has a descriptor.
  static Answer<void> watch(EpollFile& epoll, const Reference<FileDescription>& file, std::int32_t number,
                            EpollInterest interest) {
    file->add_descriptor();
    return epoll.add(file, number, interest);
  }
  Reference<EpollFile> make_epoll() { return make_reference<EpollFile>(heap, heap, clock, 0u).value(); }
  static Told collect(EpollFile& epoll, std::size_t most = 100) {
    RememberingSink sink;
    const std::size_t told = epoll.collect(sink, most).value();
    EXPECT_EQ(told, sink.told.size());
    return sink.told;
  }
};

}  // namespace ingot::os::file_fixture
