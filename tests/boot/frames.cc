// Every frame that the allocator gives is memory of its own: all are taken, written, read back and returned.
//
// boot-test: success
// boot-test: expect frames: all distinct
// boot-test: expect frames: all returned
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

// What a frame holds while the test has it: the frame taken before it, and its own number.
struct Taken {
  std::uint64_t previous, own;
};

}  // namespace

void run_payload(Kernel& kernel) {
  const PhysicalWindow window = kernel.platform.window();
  kernel.memory->cached_frames().shared().with([&](FrameAllocator& frames) {
    const std::uint64_t free_before = frames.statistics().free;
    std::uint64_t last = 0, count = 0;
    for (;; ++count) {
      const Result<FrameNumber> frame = frames.allocate(page_order);
      if (!frame.ok()) break;
      *window.at<Taken>(frame.value()) = {last, frame.value().value()};
      last = frame.value().value();
    }
    if (count != free_before) panic("expected ", free_before, " frames, found ", count);
    std::uint64_t found = 0;
    for (std::uint64_t frame = last; frame != 0; ++found) {
      const Taken taken = *window.at<Taken>(FrameNumber(frame));
      if (taken.own != frame) panic("expected frame ", frame, " to hold its number, found ", taken.own);
      frames.release(FrameNumber(frame), page_order);
      frame = taken.previous;
    }
    kernel.log.information("frames: all distinct, ", found, " of ", count);
    if (frames.statistics().free == free_before && found == count) kernel.log.information("frames: all returned");
  });
}

}  // namespace ingot::os
