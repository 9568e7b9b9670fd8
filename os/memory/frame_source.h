// FrameSource: who gives and takes frames. The allocator itself in tests and at the start; later a CPU's cache in front
// of the locked allocator.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "os/memory/address.h"
#include "os/memory/frame_info.h"

namespace ingot::os {

// An allocation is 2^order frames, aligned to its size.
inline constexpr unsigned page_order = 0;
inline constexpr unsigned large_page_order = 9;
inline constexpr unsigned giant_page_order = 18;

// Devices that cannot address all memory name the zone they reach; everybody else gets high memory first.
enum class Zone : std::uint8_t { any, below_4_gib, below_16_mib };

class FrameSource {
 public:
  // The frames are not cleared. They have one reference each, counted together: whoever maps a large page holds 512,
  // and splitting that mapping changes no count.
  virtual Result<FrameNumber> allocate(unsigned order, Zone zone) = 0;
  Result<FrameNumber> allocate(unsigned order) { return allocate(order, Zone::any); }

  // Drops the references of 2^order frames that begin at `frame`; the last one of an allocation frees all of it.
  virtual void release(FrameNumber frame, unsigned order) = 0;

  // A pinned allocation stays in its place until the last pin is gone, even when nobody references it any more.
  Result<void> pin(FrameNumber frame) {
    if (table().info(table().head_of(frame)).add_pin()) return {};
    return Error::of(ErrorCode::out_of_range, "expected fewer than ", FrameInfo::most_pins,
                     " pins, found that many on ", frame.address());
  }
  virtual void unpin(FrameNumber frame) = 0;

  // More memory: frames of the boot image that nobody needs any more.
  virtual void adopt(FrameNumber begin, FrameNumber end) = 0;

  virtual const FrameTable& table() const = 0;

 protected:
  ~FrameSource() = default;
};

}  // namespace ingot::os
