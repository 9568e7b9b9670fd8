// PageSource: where a heap gets its pages from.
#pragma once

#include "base/result.h"
#include "os/memory/frame_source.h"
#include "os/memory/physical_window.h"

namespace ingot::os {

// Runs of 2^order pages, aligned to their size.
class PageSource {
 public:
  virtual Result<void*> allocate_pages(unsigned order) = 0;
  virtual void free_pages(void* pages, unsigned order) = 0;

 protected:
  ~PageSource() = default;
};

// Frames as they appear in the physical window: they are mapped already, by the largest pages there are.
class WindowPages final : public PageSource {
 public:
  WindowPages(FrameSource& frames, PhysicalWindow window) : frames_(&frames), window_(window) {}

  Result<void*> allocate_pages(unsigned order) override {
    const FrameNumber frame = TRY(frames_->allocate(order));
    return static_cast<void*>(window_.at<char>(frame));
  }
  void free_pages(void* pages, unsigned order) override {
    frames_->release(FrameNumber::containing(window_.physical(pages)), order);
  }

 private:
  FrameSource* frames_;
  PhysicalWindow window_;
};

}  // namespace ingot::os
