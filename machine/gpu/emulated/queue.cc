#include "machine/gpu/emulated/queue.h"

#include <chrono>
#include <cstring>

namespace ingot::emulated {
namespace {

constexpr std::size_t most_parameter_bytes = 4096;
constexpr std::uint64_t most_blocks = (std::uint64_t{1} << 31) - 1;
constexpr std::uint32_t most_blocks_along_y_or_z = 65535;

Result<void> require_shape(const LaunchShape& shape) {
  if (shape.threads == 0 || shape.threads > most_threads) {
    return Error::of(ErrorCode::out_of_range, "expected 1 to ", most_threads, " threads a block, found ",
                     shape.threads);
  }
  if (shape.blocks_y > most_blocks_along_y_or_z || shape.blocks_z > most_blocks_along_y_or_z) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_blocks_along_y_or_z,
                     " blocks along the second and third axis, found ", shape.blocks_y, " and ", shape.blocks_z);
  }
  const std::uint64_t layer = std::uint64_t{shape.blocks} * shape.blocks_y;  // below 2^48
  if (layer == 0 || shape.blocks_z == 0 || layer > most_blocks || layer * shape.blocks_z > most_blocks) {
    return Error::of(ErrorCode::out_of_range, "expected 1 to ", most_blocks, " blocks, found ", shape.blocks, " x ",
                     shape.blocks_y, " x ", shape.blocks_z);
  }
  if (shape.shared_bytes > most_shared_bytes) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most_shared_bytes,
                     " bytes of shared memory a block, found ", shape.shared_bytes);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<EmulatedQueue>> EmulatedQueue::create(EmulatedDevice& device) {
  return std::unique_ptr<EmulatedQueue>(new EmulatedQueue(device, TRY(BlockPlayer::create())));
}

void EmulatedQueue::keep(const Result<void>& result) {
  if (result.ok()) return;
  device_.keep_failure(step_.empty() ? result.error() : result.error().within("step ", step_));
}

void EmulatedQueue::do_or_record(std::function<Result<void>()> work) {
  auto named = [this, step = step_, work = std::move(work)] {
    if (device_.failure()) return;
    step_ = step;
    keep(work());
  };
  if (recording_) {
    recording_->works.emplace_back(std::move(named));
  } else {
    named();
  }
}

void EmulatedQueue::launch(const DeviceFunction& function, const LaunchShape& shape,
                           std::span<const std::byte> parameters) {
  do_or_record([this, &function, shape, copy = std::vector<std::byte>(parameters.begin(), parameters.end())] {
    return try_launch(function, shape, copy);
  });
}

Result<void> EmulatedQueue::try_launch(const DeviceFunction& function, const LaunchShape& shape,
                                       std::span<const std::byte> parameters) {
  const auto named = [&](const Error& error) { return error.within("device function ", function.name); };
  if (!function.is_emulated()) {
    return Error::of(
        ErrorCode::unsupported, "device function ", function.name,
        ": expected one that is emulated, found that this program carries none, or the source needs a real device");
  }
  if (const Result<void> checked = require_shape(shape); !checked.ok()) return named(checked.error());
  if (parameters.size() > most_parameter_bytes) {
    return named(Error::of(ErrorCode::overflow, "expected at most ", most_parameter_bytes,
                           " bytes of parameters, found ", parameters.size()));
  }
  // A copy, aligned for anything: functions may not depend on where the caller's lay.
  alignas(64) std::byte copy[most_parameter_bytes];
  std::memcpy(copy, parameters.data(), parameters.size());
  TRY(player_->play({&function, shape, copy, parameters.size()}, Order(device_.order())));
  if (const Result<void> checked = device_.require_whole_tails(); !checked.ok()) return named(checked.error());
  return {};
}

void EmulatedQueue::copy_in(std::byte* device, const std::byte* host, std::size_t bytes) {
  do_or_record([=, this]() -> Result<void> {
    TRY(device_.require_within_memory(device, bytes));
    if (bytes > 0) std::memcpy(device, host, bytes);
    return {};
  });
}

void EmulatedQueue::copy_out(std::byte* host, const std::byte* device, std::size_t bytes) {
  do_or_record([=, this]() -> Result<void> {
    TRY(device_.require_within_memory(device, bytes));
    if (bytes > 0) std::memcpy(host, device, bytes);
    return {};
  });
}

void EmulatedQueue::copy_within(std::byte* to, const std::byte* from, std::size_t bytes) {
  do_or_record([=, this]() -> Result<void> {
    TRY(device_.require_within_memory(to, bytes));
    TRY(device_.require_within_memory(from, bytes));
    if (bytes > 0) std::memmove(to, from, bytes);
    return {};
  });
}

void EmulatedQueue::fill(std::byte* device, std::uint8_t value, std::size_t bytes) {
  do_or_record([=, this]() -> Result<void> {
    TRY(device_.require_within_memory(device, bytes));
    if (bytes > 0) std::memset(device, value, bytes);
    return {};
  });
}

namespace {

class EmulatedMark final : public Mark {
 public:
  explicit EmulatedMark(EmulatedQueue& queue) : queue_(queue) {}
  Result<void> place() override {
    time_ = std::chrono::steady_clock::now();
    return {};
  }
  Result<void> wait() override { return queue_.wait(); }
  Result<double> seconds_since(const Mark& earlier) override {
    TRY(wait());
    return std::chrono::duration<double>(time_ - static_cast<const EmulatedMark&>(earlier).time_).count();
  }

 private:
  EmulatedQueue& queue_;
  std::chrono::steady_clock::time_point time_;
};

}  // namespace

Result<std::unique_ptr<Mark>> EmulatedQueue::make_mark() { return std::unique_ptr<Mark>(new EmulatedMark(*this)); }

Result<void> EmulatedQueue::begin_recording() {
  TRY(wait());
  recording_ = std::make_unique<EmulatedRecording>();
  return {};
}

Result<std::unique_ptr<Recording>> EmulatedQueue::end_recording() {
  std::unique_ptr<Recording> recording = std::move(recording_);
  TRY(wait());
  return recording;
}

void EmulatedQueue::replay(const Recording& recording) {
  for (const std::function<void()>& work : static_cast<const EmulatedRecording&>(recording).works) work();
}

Result<void> EmulatedQueue::wait() {
  if (const std::optional<Error> failure = device_.failure()) return *failure;
  return {};
}

}  // namespace ingot::emulated
