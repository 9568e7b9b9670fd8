// CudaQueue: a stream. One thread at a time gives it work. What fails later, on the device, is told as one of the
// launches since the last wait, for the driver says no more; a queue that goes one by one knows which.
#pragma once

#include <optional>
#include <string>

#include "machine/gpu/cuda/cuda_device.h"

namespace ingot {

enum class Pace : std::uint8_t { free, one_by_one };  // one by one: each launch is waited for

class CudaQueue final : public Queue {
 public:
  static Result<std::unique_ptr<CudaQueue>> create(CudaDevice& device, Pace pace);
  ~CudaQueue() override;

  using Queue::launch;
  // A launch of no blocks is no work.
  void launch(const DeviceFunction& function, const LaunchShape& shape, std::span<const std::byte> parameters) override;
  void copy_in(std::byte* device, const std::byte* host, std::size_t bytes) override;
  void copy_out(std::byte* host, const std::byte* device, std::size_t bytes) override;
  void copy_within(std::byte* to, const std::byte* from, std::size_t bytes) override;
  void fill(std::byte* device, std::uint8_t value, std::size_t bytes) override;
  void name_step(std::string_view step) override { step_ = step; }
  Result<std::unique_ptr<Mark>> make_mark() override;
  // A recording is a graph. A failure of one on the device is told as that of the whole.
  Result<void> begin_recording() override;
  Result<std::unique_ptr<Recording>> end_recording() override;
  void replay(const Recording& recording) override;
  Result<void> wait() override;

  // For its marks: the failure that it keeps, if there is one; and one that came of what it was given.
  Result<void> state() const { return failure_ ? Result<void>(*failure_) : Result<void>(); }
  Error fail(const Error& error);

  CudaDevice& device() const { return device_; }
  cuda::StreamHandle stream() const { return stream_.value(); }

 private:
  // A launch of a function, or of a graph where there is none.
  struct Launch {
    std::string_view step;
    const DeviceFunction* function = nullptr;
    LaunchShape shape;
  };
  // A launch, and its step's name: who was told by a mark that it is done may have let go of that.
  struct NotedLaunch {
    Launch launch;
    std::string step;
    void note(const Launch& given);
  };
  friend void describe(const Launch& launch, FixedText<Error::text_capacity>& text);

  CudaQueue(CudaDevice& device, cuda::Stream stream, Pace pace);
  Result<void> try_launch(const Launch& launch, std::span<const std::byte> parameters);
  void note(const Launch& launch, const Result<void>& given);
  void keep(const Error& error);
  Error located(const Error& error) const;
  template <class... Parameters, class... Arguments>
  void give(const char* what, cuda::DriverFunction<Parameters...> cuda::DriverFunctions::* function,
            Arguments... arguments);

  CudaDevice& device_;
  cuda::Stream stream_;
  Pace pace_;
  bool is_recording_ = false;
  std::string_view step_;
  std::int64_t launches_ = 0;  // since the last wait, and the first and the last of them
  NotedLaunch first_, last_;
  std::optional<Error> failure_;
};

}  // namespace ingot
