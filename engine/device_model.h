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

  // What the weights take there, where so many of the first layers stay on the host.
  static Result<std::size_t> bytes_of(const Model& model, std::int64_t host_layers = 0);

  // Fails before anything is allocated where the device has less memory free than the weights take.
  static Result<std::shared_ptr<const DeviceModel>> upload(std::shared_ptr<const Model> model,
                                                           std::shared_ptr<Device> device,
                                                           const Progress& progress = {}, std::int64_t host_layers = 0);

  const Model& model() const { return *model_; }
  Device& device() const { return *device_; }
  // Of the model's layers, the first ones, which have no weights there.
  std::int64_t host_layers() const { return host_layers_; }
  // Where the weight lies whose bytes begin there on the host; null: it is none of this model.
  std::byte* find(const std::byte* on_host) const;
  // Weights that lie in planes there (tensor/planes.h).
  const WeightAddresses& in_planes() const { return in_planes_; }
  std::size_t bytes() const { return memory_.size(); }

 private:
  DeviceModel(std::shared_ptr<const Model> model, std::shared_ptr<Device> device, std::int64_t host_layers)
      : model_(std::move(model)), device_(std::move(device)), host_layers_(host_layers) {}

  std::shared_ptr<const Model> model_;
  std::shared_ptr<Device> device_;  // outlives its memory
  std::int64_t host_layers_;
  DeviceMemory memory_;
  std::map<const std::byte*, std::size_t> offsets_;  // by the address on the host
  WeightAddresses in_planes_;
};

}  // namespace ingot
