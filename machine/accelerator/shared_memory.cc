#include "machine/accelerator/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ingot {

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<void> SharedMemory::map(std::size_t bytes, int kind) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, descriptor_.get(), 0);
  if (address == MAP_FAILED && errno == ENOMEM) {
    return Error::of(ErrorCode::out_of_memory, "expected ", bytes >> 10,
                     " KiB of memory to share with an accelerator, found too little: give a smaller --context, or a "
                     "booted machine more by `ingot boot --memory`");
  }
  if (address == MAP_FAILED) return refused("map shared memory");
  bytes_ = {static_cast<std::byte*>(address), bytes};
  return {};
}

namespace {

// Whole pages.
Result<std::size_t> checked_size(Bytes bytes) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;
  if (bytes.count() == 0 || bytes.count() > most_bytes) {
    return Error::of(ErrorCode::out_of_range, "expected 1 to ", most_bytes, " bytes of shared memory, found ",
                     bytes.count());
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return static_cast<std::size_t>(align_up(bytes.count(), page));
}

}  // namespace

Result<SharedMemory> SharedMemory::create_private(Bytes bytes) {
  const std::size_t size = TRY(checked_size(bytes));
  SharedMemory memory;
  TRY(memory.map(size, MAP_PRIVATE | MAP_ANONYMOUS));
  return memory;
}

Result<SharedMemory> SharedMemory::create(Bytes bytes, const char* name) {
  const std::size_t size = TRY(checked_size(bytes));
  SharedMemory memory;
  memory.descriptor_ = Descriptor(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.descriptor_.is_open()) return refused("make shared memory");
  if (::ftruncate(memory.descriptor_.get(), static_cast<off_t>(size)) != 0) return refused("size shared memory");
  if (::fcntl(memory.descriptor_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return refused("seal shared memory");
  }
  TRY(memory.map(size, MAP_SHARED));
  return memory;
}

Result<SharedMemory> SharedMemory::of(Descriptor descriptor, Bytes bytes) {
  const std::uint64_t found = TRY(sealed_bytes(descriptor.get()));
  if (found < bytes.count()) {
    return Error::of(ErrorCode::out_of_range, "expected shared memory of ", bytes.count(), " bytes, found ", found);
  }
  SharedMemory memory;
  memory.descriptor_ = std::move(descriptor);
  TRY(memory.map(static_cast<std::size_t>(bytes.count()), MAP_SHARED));
  return memory;
}

Result<std::uint64_t> sealed_bytes(int descriptor) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Error::of(ErrorCode::invalid_argument,
                     "expected a memfd that is sealed against shrinking, found a descriptor that is none");
  }
  // Not fstat(): a worker may ask for no more of its descriptors than this.
  const off_t end = ::lseek(descriptor, 0, SEEK_END);
  if (end < 0) return refused("ask for the size of shared memory");
  return static_cast<std::uint64_t>(end);
}

}  // namespace ingot
