#include "machine/gpu/cuda/address_range.h"

#include <limits>

namespace ingot {

using cuda::DriverFunctions;

namespace {

cuda::Location place_of(const cuda::Context& context) { return {.index = context.device}; }

// Nothing where that is more than can be counted.
std::size_t rounded_up(std::size_t bytes, std::size_t granule) {
  if (bytes > std::numeric_limits<std::size_t>::max() - granule) return 0;
  return (bytes + granule - 1) / granule * granule;
}

}  // namespace

Result<std::unique_ptr<CudaAddressRange>> CudaAddressRange::reserve(CudaDevice& device, std::size_t capacity) {
  const cuda::Context& context = device.context();
  const cuda::AllocationProperties properties{.location = place_of(context)};
  std::unique_ptr<CudaAddressRange> range(new CudaAddressRange());
  TRY(context.call(&DriverFunctions::granule_bytes, &range->granule_, &properties, cuda::granularity_recommended));
  if (range->granule_ == 0) {
    return Error::of(ErrorCode::unsupported, "expected granules of memory, found that the driver has them of 0 bytes");
  }
  range->capacity_ = rounded_up(capacity, range->granule_);
  if (range->capacity_ == 0) {
    return Error::of(ErrorCode::invalid_argument, "expected a capacity that can be reserved, found ", capacity,
                     " bytes");
  }
  const Result<void> reserved = context.call(&DriverFunctions::address_reserve, &range->base_, range->capacity_,
                                             range->granule_, cuda::Address{0}, 0ULL);
  if (!reserved.ok()) return reserved.error().within("expected addresses of ", range->capacity_, " bytes");
  range->context_ = &context;
  return range;
}

CudaAddressRange::~CudaAddressRange() {
  if (context_ == nullptr) return;
  if (mapped_ != 0) (void)context_->release(&DriverFunctions::granule_unmap, base_, mapped_);
  (void)context_->release(&DriverFunctions::address_free, base_, capacity_);
}

// The next `bytes`, whole granules, as one piece.
Result<void> CudaAddressRange::map(std::size_t bytes) {
  const cuda::AllocationProperties properties{.location = place_of(*context_)};
  cuda::AllocationHandle handle = 0;
  TRY(context_->call(&DriverFunctions::granule_create, &handle, bytes, &properties, 0ULL));
  const cuda::Address end = base_ + mapped_;
  const Result<void> mapped = context_->call(&DriverFunctions::granule_map, end, bytes, std::size_t{0}, handle, 0ULL);
  // What is mapped keeps the memory: unmapping it gives it back.
  const Result<void> released = context_->release(&DriverFunctions::granule_release, handle);
  if (!mapped.ok()) return mapped.error();
  const cuda::AccessDescription access{.location = place_of(*context_)};
  const Result<void> opened =
      released.ok() ? context_->call(&DriverFunctions::granule_set_access, end, bytes, &access, std::size_t{1})
                    : released;
  if (opened.ok()) return {};
  (void)context_->release(&DriverFunctions::granule_unmap, end, bytes);
  return opened.error();
}

Result<void> CudaAddressRange::grow_to(std::size_t bytes) {
  if (bytes <= mapped_) return {};
  if (bytes > capacity_) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", capacity_, " bytes, which were reserved, found ",
                     bytes);
  }
  const std::size_t more = rounded_up(bytes, granule_) - mapped_;
  const Result<void> grown = map(more);
  if (!grown.ok()) return grown.error().within("expected ", more, " bytes more behind reserved addresses");
  mapped_ += more;
  return {};
}

}  // namespace ingot
