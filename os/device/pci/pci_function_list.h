// PciFunctionList: the functions of a bus, as they were found. On a heap, to which they go back with their list.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "os/device/pci/pci.h"
#include "os/memory/allocator.h"

namespace ingot::os {

struct PciFunction {
  PciAddress address;
  PciHeader header;
};

class PciFunctionList {
 public:
  PciFunctionList() = default;
  PciFunctionList(PciFunctionList&& other) noexcept
      : heap_(other.heap_), room_(std::exchange(other.room_, {})), count_(std::exchange(other.count_, 0)) {}
  PciFunctionList& operator=(PciFunctionList&& other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(room_, other.room_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~PciFunctionList() {
    if (!room_.empty()) heap_->free(room_.data(), room_.size_bytes());
  }

  // Those of segment 0.
  static Result<PciFunctionList> find(Allocator& heap, PciConfiguration& configuration) {
    std::size_t count = 0;
    for_each_pci_function(configuration, 0, [&](PciAddress, const PciHeader&) { ++count; });
    PciFunctionList list;
    if (count == 0) return list;
    list.heap_ = &heap;
    list.room_ = {static_cast<PciFunction*>(TRY(heap.allocate(count * sizeof(PciFunction)))), count};
    for_each_pci_function(configuration, 0, [&](PciAddress address, const PciHeader& header) {
      // A device that shows itself only now is not waited for.
      if (list.count_ < count) std::construct_at(&list.room_[list.count_++], PciFunction{address, header});
    });
    return list;
  }

  std::span<const PciFunction> view() const { return room_.first(count_); }

 private:
  Allocator* heap_ = nullptr;
  std::span<PciFunction> room_;
  std::size_t count_ = 0;
};

}  // namespace ingot::os
