// DeviceSide: what a session has on a device: a queue, the arena and scratch of its plans, and what its passes are told
// and give, which goes to and fro.
#pragma once

#include <array>
#include <vector>

#include "engine/adapter.h"
#include "engine/device_model.h"
#include "engine/pass_recordings.h"
#include "kernels/contract/call_queue.h"
#include "machine/gpu/memory_home.h"

namespace ingot {

class DeviceSide {
 public:
  // For passes with at most so many outputs that tokens are chosen from.
  static Result<DeviceSide> create(std::shared_ptr<const DeviceModel> model, int most_choices, Neighbours neighbours);

  Device& device() const { return model_->device(); }
  Place place() const { return Place::device(device().information().index); }
  Processor processor() const { return processor_of(device().information()); }
  MemoryHome home() const { return {device(), *queue_}; }
  Queue& queue() const { return *queue_; }
  // What steps are run with there.
  Context context(Workers& workers) const { return {workers, scratch(), queue_.get(), calls_.get()}; }
  bool takes_calls() const { return calls_ != nullptr; }
  PassRecordings& recordings() { return recordings_; }
  const PassRecordings& recordings() const { return recordings_; }
  std::size_t bytes() const {
    return arena_.size() + scratch_.size() + uniforms_.size() + chosen_.size() + adapters_.size();
  }

  // Adapters of the model, whose matrices are found as its weights are. Once, before there are plans.
  Result<void> upload(std::span<const std::shared_ptr<const Adapter>> adapters);

  const LaidOutWeights& laid_out() const { return model_->laid_out(); }
  // The address of a weight there. Fails for one that the model does not have.
  Result<std::byte*> weight(const CircuitTensor& tensor) const;

  // Makes room for a plan. True: the arena has moved, and all plans have to be bound again.
  Result<bool> make_room(const Plan& plan);
  Result<void> make_scratch(std::size_t bytes);
  std::byte* arena() const { return arena_.data(); }
  // Of tensors that stay on the host, where what crosses is copied from.
  std::byte* host_arena() const { return host_arena_.data(); }
  std::span<std::byte> scratch() const { return {scratch_.data(), scratch_.size()}; }

  // A pass that chooses tokens takes turns with the one before it, so that the host can write what it is told while
  // that one still runs. Precondition: all others have ended.
  Result<void> begin_pass(const Plan& plan);
  // Where the host writes an input of the pass; null: the plan has none of that name.
  std::byte* input(const Plan& plan, std::string_view name) const;
  const std::byte* inputs() const { return turn().inputs.data(); }
  float* uniforms() const { return reinterpret_cast<float*>(turn().uniforms.data()); }
  void send_inputs(const Plan& plan);
  void send_uniforms(std::size_t count);

  // The last tokens that were chosen become those of the pass.
  void continue_tokens(const Plan& plan, std::size_t count);
  // Of the first rows of its outputs.
  ChoiceTensors choice_tensors(const Plan& plan) const;
  // The tokens that this pass chose come back, and the turn ends: its number is told, for receive_chosen(), which waits
  // for them.
  Result<int> send_chosen_back(std::size_t count);
  Result<std::span<const std::int32_t>> receive_chosen(int turn) const;

  // Waits for all that was asked of the device, and appends a tensor of the arena to `values`.
  Result<void> receive(const AnyView& tensor, std::vector<float>& values);

 private:
  // What goes to and fro for one pass.
  struct Turn {
    PinnedMemory inputs;
    PinnedMemory uniforms;
    PinnedMemory chosen;
    std::size_t chosen_count = 0;
    std::unique_ptr<Mark> has_chosen;
  };
  DeviceSide(std::shared_ptr<const DeviceModel> model, std::unique_ptr<Queue> queue)
      : model_(std::move(model)), queue_(std::move(queue)), recordings_(*queue_) {}
  const Turn& turn() const { return turns_[static_cast<std::size_t>(turn_)]; }
  Turn& turn() { return turns_[static_cast<std::size_t>(turn_)]; }

  std::shared_ptr<const DeviceModel> model_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<CallQueue> calls_;  // into it; null: the device takes none
  PassRecordings recordings_;
  DeviceMemory adapters_;
  std::map<const std::byte*, std::size_t> adapter_offsets_;  // by the address on the host
  DeviceMemory arena_;
  PinnedMemory host_arena_;
  DeviceMemory scratch_;
  DeviceMemory uniforms_;
  DeviceMemory chosen_;
  std::array<Turn, 2> turns_;
  int turn_ = 0;
  PinnedMemory received_;
};

}  // namespace ingot
