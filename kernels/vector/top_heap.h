// TopHeap: the k greatest of a stream of ranked elements (see order_key.h), the least of them on top.
#pragma once

#include <algorithm>
#include <functional>

#include "kernels/vector/order_key.h"

namespace ingot {

class TopHeap {
 public:
  TopHeap(std::int64_t* memory, std::int64_t size) : data_(memory), size_(size) {}

  std::int64_t size() const { return size_; }
  std::int64_t least() const { return data_[0]; }
  std::int64_t operator[](std::int64_t position) const { return data_[position]; }

  // First fill every position, then order; from then on offer.
  void place(std::int64_t position, std::int64_t ranked) { data_[position] = ranked; }
  void order() { std::make_heap(data_, data_ + size_, std::greater<>()); }
  void offer(std::int64_t ranked) {
    if (ranked <= data_[0]) return;
    std::int64_t hole = 0;
    while (2 * hole + 1 < size_) {
      std::int64_t child = 2 * hole + 1;
      if (child + 1 < size_ && data_[child + 1] < data_[child]) ++child;
      if (ranked <= data_[child]) break;
      data_[hole] = data_[child];
      hole = child;
    }
    data_[hole] = ranked;
  }
  // Greatest first. The heap is a plain list afterwards.
  void sort() { std::sort_heap(data_, data_ + size_, std::greater<>()); }

 private:
  std::int64_t* data_;
  std::int64_t size_;
};

}  // namespace ingot
