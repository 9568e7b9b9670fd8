// AcceleratorQueue: a device's queue whose work is contracts. They are given as argument blocks (encode_call() of
// kernels/contract makes them); what is recorded becomes a list that the worker keeps, checked once. All queues of a
// client share its ring: what they are given is done in one order.
#pragma once

#include <deque>
#include <vector>

#include "machine/accelerator/shared_heap.h"
#include "machine/gpu/queue.h"

namespace ingot {

class AcceleratorQueue final : public Queue {
 public:
  static Result<std::unique_ptr<AcceleratorQueue>> create(AcceleratorClient& client, SharedHeap& heap);
  ~AcceleratorQueue() override;

  // Room for the arguments of the next dispatch, which the worker sees. Empty where the queue has failed.
  std::span<std::byte> arguments(std::size_t bytes);
  // Precondition: `arguments` holds what arguments() gave room for last.
  void dispatch(std::uint64_t contract, std::span<const std::byte> arguments, bool alone = false);

  // Fails the queue: an accelerator has no functions but contracts.
  void launch(const DeviceFunction& function, const LaunchShape& shape, std::span<const std::byte> parameters) override;
  void copy_in(std::byte* device, const std::byte* host, std::size_t bytes) override;
  void copy_out(std::byte* host, const std::byte* device, std::size_t bytes) override;
  void copy_within(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void fill(std::byte* device, std::uint8_t value, std::size_t bytes) override;
  void name_step(std::string_view step) override { step_ = step; }
  Result<std::unique_ptr<Mark>> make_mark() override;
  Result<void> begin_recording() override;
  Result<std::unique_ptr<Recording>> end_recording() override;
  void replay(const Recording& recording) override;
  // Unlike a GPU's, the queue goes on after it told of a refusal. A worker that is gone is gone for ever.
  Result<void> wait() override;

  // Work that was recorded may be forgotten at any time, for instance behind the queue's own end.
  struct Lists {
    std::vector<std::uint64_t> forgotten;  // lists that nobody will replay
  };

 private:
  class QueueMark;
  class ListRecording;
  // Shared memory with the arguments of packets that may not have been read yet.
  struct Piece {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  AcceleratorQueue(AcceleratorClient& client, SharedHeap& heap, Piece room)
      : client_(client), heap_(heap), room_(room), lists_(std::make_shared<Lists>()) {}

  void keep(const Error& error);
  void give(const accelerator::Packet& packet);
  // Until the worker has nothing to do; the failure of a packet is kept.
  Result<void> drain();
  void forget_lists();
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, const std::byte* foreign);

  AcceleratorClient& client_;
  SharedHeap& heap_;
  Piece room_;
  std::size_t used_ = 0;
  bool is_idle_ = true;
  std::optional<Error> failure_;
  std::string step_;

  bool is_recording_ = false;
  std::vector<accelerator::Packet> recorded_;
  std::deque<Piece> recorded_arguments_;
  std::size_t recorded_used_ = 0;  // of the last of them
  std::shared_ptr<Lists> lists_;
};

}  // namespace ingot
