// What a queue runs: a function of a module. A module is one source (kernels/*/*_cuda.cu), made by the device's
// compiler into a binary for several chips, and by the host's compiler into functions that an emulated device runs.
//
// A program that carries neither still lists the rows that call them. So their names are weak: null where nothing that
// was linked defines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot {

struct DeviceModule {
  std::string_view name;
  const unsigned char* binary = nullptr;  // null: this program carries none
  const unsigned char* binary_end = nullptr;
};

// One thread's way through a function, on the fiber that plays it.
using EmulatedFunction = void (*)(const void* parameters);

struct DeviceFunction {
  const DeviceModule* module = nullptr;
  const char* name = nullptr;
  EmulatedFunction emulated = nullptr;  // null: this program carries none, or the source is beyond what is emulated

  constexpr bool has_binary() const { return module->binary != nullptr; }
  constexpr bool is_emulated() const { return emulated != nullptr; }
};

// Blocks of threads that a launch asks for. Threads of a block are counted along one axis alone.
struct LaunchShape {
  std::uint32_t blocks = 1;    // blockIdx.x
  std::uint32_t blocks_y = 1;  // at most 65,535, as the next
  std::uint32_t blocks_z = 1;
  std::uint32_t threads = 32;      // at most 1,024
  std::uint32_t shared_bytes = 0;  // of dynamic shared memory
};

}  // namespace ingot

// In a row's source, once a module: the names of what device and host compilers made of module.cu.
#define INGOT_DEVICE_MODULE(module)                                         \
  extern "C" [[gnu::weak]] const unsigned char ingot_binary_##module[];     \
  extern "C" [[gnu::weak]] const unsigned char ingot_binary_end_##module[]; \
  static const ::ingot::DeviceModule module##_module = {#module, ingot_binary_##module, ingot_binary_end_##module}

// And once a function of it: the constant `name_function`.
#define INGOT_DEVICE_FUNCTION_OF(module, name)                                 \
  extern "C" [[gnu::weak]] void ingot_emulated_##name(const void* parameters); \
  static const ::ingot::DeviceFunction name##_function = {&module##_module, #name, ingot_emulated_##name}
