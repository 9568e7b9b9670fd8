// WeightSender: the way of weights from a file to a device. Threads read the pieces that come next, each of them one by
// itself, into a ring of memory that copies reach at full speed. In their order they are given to two queues in turn,
// so that one can go on with what was copied while the other copies. Nothing else is held on the way.
#pragma once

#include <functional>

#include "machine/gpu/device.h"
#include "model/files/model_file.h"

namespace ingot {

class WeightSender {
 public:
  // Long enough that a copy's beginning does not count; the ring is short all the same, since to pin memory takes time.
  static constexpr std::size_t usual_bytes = std::size_t{4} << 20;
  static constexpr int lanes = 2;

  // For pieces of at most `most_bytes`. File and device must outlive it.
  static Result<std::unique_ptr<WeightSender>> create(const ModelFile& file, Device& device, std::size_t most_bytes);
  ~WeightSender();  // waits: copies may still read what is released then
  WeightSender(const WeightSender&) = delete;
  WeightSender& operator=(const WeightSender&) = delete;

  using Piece = std::span<const std::byte>;  // of a weight in the file
  // Puts the copy of a piece from where it was read to, and what is to be done with it there, into the lane's queue.
  using Give = std::function<Result<void>(std::size_t piece, const std::byte* read, int lane)>;
  // All were given when this returns. Fails where `give` does, and where the file has become shorter.
  Result<void> send(std::span<const Piece> pieces, const Give& give);

  Queue& queue(int lane) { return *queues_[lane]; }
  // Until all of it is there.
  Result<void> finish();

 private:
  struct Readers;
  WeightSender(const ModelFile& file, std::size_t most_bytes) : file_(file), most_bytes_(most_bytes) {}
  std::byte* place_of(std::size_t piece) const { return ring_.data() + piece % marks_.size() * most_bytes_; }
  Result<void> give_in_order(Readers& readers, const Give& give);

  const ModelFile& file_;
  const std::size_t most_bytes_;
  int readers_ = 1;
  PinnedMemory ring_;
  std::unique_ptr<Queue> queues_[lanes];
  std::vector<std::unique_ptr<Mark>> marks_;  // behind the copy from each place of the ring
};

}  // namespace ingot
