#include "machine/gpu/cuda/cuda_queue.h"

namespace ingot {
namespace {

cuda::Address address_of(const std::byte* device) { return reinterpret_cast<cuda::Address>(device); }

}  // namespace

// "step 'x': rows of norm_cuda, 4x1x1 blocks of 256 threads, 0 bytes of shared memory"
void describe(const CudaQueue::Launch& launch, FixedText<Error::text_capacity>& text) {
  if (!launch.step.empty()) text.append_all("step '", launch.step, "': ");
  if (launch.function == nullptr) {
    text.append("a graph");
    return;
  }
  const LaunchShape& shape = launch.shape;
  text.append_all(launch.function->name, " of ", launch.function->module->name, ", ", shape.blocks, 'x', shape.blocks_y,
                  'x', shape.blocks_z, " blocks of ", shape.threads, " threads, ", shape.shared_bytes,
                  " bytes of shared memory");
}

CudaQueue::CudaQueue(CudaDevice& device, cuda::Stream stream, Pace pace)
    : device_(device), stream_(std::move(stream)), pace_(pace) {}

Result<std::unique_ptr<CudaQueue>> CudaQueue::create(CudaDevice& device, Pace pace) {
  cuda::StreamHandle stream = nullptr;
  TRY(device.context().call(&cuda::DriverFunctions::stream_create, &stream, cuda::stream_beside_the_default_one));
  return std::unique_ptr<CudaQueue>(new CudaQueue(device, cuda::Stream(device.context(), stream), pace));
}

// What was given may still read and write memory that is released next.
CudaQueue::~CudaQueue() {
  if (is_recording_) (void)end_recording();
  (void)device_.context().call(&cuda::DriverFunctions::stream_wait, stream());
}

void CudaQueue::keep(const Error& error) {
  if (!failure_) failure_ = error;
}

Result<void> CudaQueue::try_launch(const Launch& launch, std::span<const std::byte> parameters) {
  const LaunchShape& shape = launch.shape;
  const cuda::FunctionHandle function = TRY(device_.modules().function(*launch.function, shape.shared_bytes));
  cuda::LaunchConfiguration configuration{.blocks_x = shape.blocks,
                                          .blocks_y = shape.blocks_y,
                                          .blocks_z = shape.blocks_z,
                                          .threads_x = shape.threads,
                                          .shared_bytes = shape.shared_bytes,
                                          .stream = stream()};
  cuda::LaunchAttribute attribute{.what = cuda::LaunchAttribute::dependent_launch};
  attribute.value.number = 1;
  // Every function of a device source waits for what was launched before it (kernels/device/language.h).
  if (device_.information().capability >= 90) {
    configuration.attributes = &attribute;
    configuration.attribute_count = 1;
  }
  // The driver takes a list of arguments and only reads them: here one, the struct.
  void* arguments[] = {const_cast<std::byte*>(parameters.data())};
  return device_.context().call(&cuda::DriverFunctions::launch, &configuration, function,
                                static_cast<void**>(arguments), static_cast<void**>(nullptr));
}

void CudaQueue::NotedLaunch::note(const Launch& given) {
  step = given.step;
  launch = given;
  launch.step = step;
}

void CudaQueue::note(const Launch& launch, const Result<void>& given) {
  if (!given.ok()) {
    FixedText<Error::text_capacity> text;
    describe(launch, text);
    keep(given.error().within("while ", text.view(), " was launched"));
    return;
  }
  if (launches_++ == 0) first_.note(launch);
  last_.note(launch);
  if (pace_ == Pace::one_by_one && !is_recording_) {
    const Result<void> done = wait();
    if (!done.ok()) keep(done.error());
  }
}

void CudaQueue::launch(const DeviceFunction& function, const LaunchShape& shape,
                       std::span<const std::byte> parameters) {
  if (failure_ || shape.blocks == 0 || shape.blocks_y == 0 || shape.blocks_z == 0) return;
  const Launch launch{.step = step_, .function = &function, .shape = shape};
  note(launch, try_launch(launch, parameters));
}

template <class... Parameters, class... Arguments>
void CudaQueue::give(const char* what, cuda::DriverFunction<Parameters...> cuda::DriverFunctions::* function,
                     Arguments... arguments) {
  if (failure_) return;
  const Result<void> given = device_.context().call(function, arguments..., stream());
  if (given.ok()) return;
  keep(step_.empty() ? given.error().within("while ", what) : given.error().within("step '", step_, "': while ", what));
}

void CudaQueue::copy_in(std::byte* device, const std::byte* host, std::size_t bytes) {
  if (bytes == 0) return;
  give("bytes were copied to the device", &cuda::DriverFunctions::copy_in, address_of(device),
       static_cast<const void*>(host), bytes);
}

void CudaQueue::copy_out(std::byte* host, const std::byte* device, std::size_t bytes) {
  if (bytes == 0) return;
  give("bytes were copied from the device", &cuda::DriverFunctions::copy_out, static_cast<void*>(host),
       address_of(device), bytes);
}

void CudaQueue::copy_within(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return;
  give("bytes were copied within the device", &cuda::DriverFunctions::copy_within, address_of(to), address_of(from),
       bytes);
}

void CudaQueue::fill(std::byte* device, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  give("memory of the device was filled", &cuda::DriverFunctions::fill, address_of(device), value, bytes);
}

// The driver tells that something failed, and not what.
Error CudaQueue::located(const Error& error) const {
  if (launches_ == 0) return error.within("while the device copied or rested");
  FixedText<Error::text_capacity> text;
  describe(last_.launch, text);
  if (launches_ == 1) return error.within("while the device ran ", text.view());
  FixedText<Error::text_capacity> first;
  // Its name alone, without what follows a comma: an error's text has an end, and what the driver says comes last.
  const std::string_view name = std::string_view(first_.step).substr(0, first_.step.find(','));
  if (!name.empty()) first.append_all("step '", name, "', ");
  first.append(first_.launch.function == nullptr ? std::string_view("a graph") : first_.launch.function->name);
  return error.within("in one of ", launches_, " launches from ", first.view(), " to ", text.view());
}

Error CudaQueue::fail(const Error& error) {
  if (!failure_) failure_ = located(error);
  return *failure_;
}

Result<void> CudaQueue::wait() {
  TRY(state());
  const Result<void> done = device_.context().call(&cuda::DriverFunctions::stream_wait, stream());
  if (!done.ok()) return fail(done.error());
  launches_ = 0;
  return {};
}

}  // namespace ingot
