// EmulatedQueue: work is done as it is given, on the thread that gives it.
#pragma once

#include <functional>
#include <vector>

#include "machine/gpu/emulated/block_player.h"
#include "machine/gpu/emulated/device.h"

namespace ingot::emulated {

struct EmulatedRecording final : Recording {
  std::vector<std::function<void()>> works;
};

class EmulatedQueue final : public Queue {
 public:
  static Result<std::unique_ptr<EmulatedQueue>> create(EmulatedDevice& device);

  using Queue::launch;
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
  Result<void> wait() override;

 private:
  EmulatedQueue(EmulatedDevice& device, std::unique_ptr<BlockPlayer> player)
      : device_(device), player_(std::move(player)) {}
  Result<void> try_launch(const DeviceFunction& function, const LaunchShape& shape,
                          std::span<const std::byte> parameters);
  void keep(const Result<void>& result);
  // Now, unless it is written down; nothing is done by a device that failed.
  void do_or_record(std::function<Result<void>()> work);

  EmulatedDevice& device_;
  std::unique_ptr<BlockPlayer> player_;
  std::string_view step_;
  std::unique_ptr<EmulatedRecording> recording_;  // while one is made
};

}  // namespace ingot::emulated
