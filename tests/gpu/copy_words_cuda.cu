// Functions for the proof that a real driver does what machine/gpu asks of it.
#include "tests/gpu/copy_words_cuda.h"

#include "kernels/device/language.h"

using ingot::CopyWords;

INGOT_DEVICE_FUNCTION(copy_words, CopyWords, 256) {
  const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < parameters.count) parameters.to[index] = parameters.from[index] + parameters.add;
}

// The same by way of dynamic shared memory, a word for each thread at the end of what the launch asked for.
INGOT_DEVICE_FUNCTION(copy_shared_words, CopyWords, 256) {
  extern __shared__ std::uint32_t words[];
  std::uint32_t bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  std::uint32_t* const word = words + bytes / 4 - blockDim.x + threadIdx.x;
  const std::uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < parameters.count) *word = parameters.from[index];
  __syncthreads();
  if (index < parameters.count) parameters.to[index] = *word + parameters.add;
}

// Writes where nothing is: a fault that comes while the host goes on.
INGOT_DEVICE_FUNCTION(write_nowhere, CopyWords, 32) {
  *reinterpret_cast<volatile std::uint32_t*>(static_cast<std::uintptr_t>(threadIdx.x) * 4 + 64) = 1;
}
