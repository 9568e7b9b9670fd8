// DeviceModel: a model's weights in a device's memory. Immutable: all sessions of the model on that device share them.
#pragma once

#include <functional>

#include "engine/model.h"
#include "machine/gpu/device.h"
#include "model/plan/packed_weights.h"

namespace ingot {

class DeviceModel {
 public:
  // Called now and then while weights go there. False: no more of it, and the upload fails.
  using Progress = std::function<bool(std::uint64_t done, std::uint64_t bytes)>;

  // How weights come to lie there.
  struct Use {
    std::int64_t host_layers = 0;  // of the first ones, which stay on the host
    // Of a device that takes calls: types of weights that it is to hold interleaved. Others stay in the model's files,
    // which are lent to it. Null: none.
    AcceptsType interleaved = nullptr;
    std::uint64_t most_interleaved = ~std::uint64_t{0};  // bytes; where it would be more, none is
  };

  // What the weights take of such a device's memory.
  static Result<std::size_t> bytes_of(const Model& model, const DeviceInformation& device, const Use& use);

  // Fails before anything is allocated where the device has less memory free than the weights take.
  static Result<std::shared_ptr<const DeviceModel>> upload(std::shared_ptr<const Model> model,
                                                           std::shared_ptr<Device> device, const Progress& progress,
                                                           const Use& use);
  static Result<std::shared_ptr<const DeviceModel>> upload(std::shared_ptr<const Model> model,
                                                           std::shared_ptr<Device> device) {
    return upload(std::move(model), std::move(device), {}, {});
  }

  const Model& model() const { return *model_; }
  Device& device() const { return *device_; }
  // Of the model's layers, the first ones, which have no weights there.
  std::int64_t host_layers() const { return host_layers_; }
  // Where the weight lies whose bytes begin there on the host; null: it is none of this model.
  std::byte* find(const std::byte* on_host) const;
  // Weights that do not lie there as rows.
  const LaidOutWeights& laid_out() const { return laid_out_; }
  std::size_t bytes() const { return memory_.size(); }

 private:
  // The files that these weights lie in.
  Result<void> lend(std::span<const std::byte* const> weights);
  DeviceModel(std::shared_ptr<const Model> model, std::shared_ptr<Device> device, std::int64_t host_layers)
      : model_(std::move(model)), device_(std::move(device)), host_layers_(host_layers) {}

  std::shared_ptr<const Model> model_;
  std::shared_ptr<Device> device_;  // outlives its memory
  std::int64_t host_layers_;
  std::vector<std::unique_ptr<LentMemory>> lent_;
  DeviceMemory memory_;
  std::map<const std::byte*, std::byte*> places_;  // by the address on the host
  LaidOutWeights laid_out_;
};

}  // namespace ingot
