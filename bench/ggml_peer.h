// llama.cpp's CPU backend as a peer: its libraries are opened at run time, and the build needs none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

// The part of ggml's C interface that comparisons take. Contexts, tensors, graphs, buffers and backends are opaque.
struct Ggml {
  struct InitParameters {
    std::size_t bytes;
    void* buffer;
    bool without_data;
  };
  void* (*init)(InitParameters) = nullptr;
  void (*free)(void* context) = nullptr;
  void* (*new_tensor_4d)(void* context, int type, std::int64_t, std::int64_t, std::int64_t, std::int64_t) = nullptr;
  void* (*get_data)(const void* tensor) = nullptr;
  void* (*mul_mat)(void* context, void* weights, void* x) = nullptr;
  void* (*flash_attn_ext)(void* context, void* q, void* k, void* v, void* mask, float scale, float max_bias,
                          float softcap) = nullptr;
  void (*flash_attn_ext_set_prec)(void* node, int precision) = nullptr;
  void* (*new_graph)(void* context) = nullptr;
  void (*build_forward_expand)(void* graph, void* node) = nullptr;
  int (*graph_compute)(void* backend, void* graph) = nullptr;
  void* (*cpu_init)() = nullptr;
  void (*cpu_set_n_threads)(void* backend, int threads) = nullptr;
  void* (*cpu_registry)() = nullptr;
  void* (*registry_device)(void* registry, std::size_t index) = nullptr;
  void* (*registry_address)(void* registry, const char* name) = nullptr;
  bool (*device_supports)(void* device, const void* node) = nullptr;
  const char* (*buffer_type_name)(void* buffer_type) = nullptr;
  void* (*allocate_tensors)(void* context, void* buffer_type) = nullptr;  // a buffer, null where none can be had
  void* (*default_buffer_type)() = nullptr;
  void (*buffer_free)(void* buffer) = nullptr;
  void (*log_set)(void (*function)(int level, const char* text, void* data), void* data) = nullptr;
  void (*tensor_set)(void* tensor, const void* data, std::size_t offset, std::size_t bytes) = nullptr;

  // From LLAMA_CPP/build/bin. Says on standard error what is missing.
  bool load(const std::string& folder);
  // Where weights may be kept: as they are stored, then in each layout of the CPU backend's own.
  std::vector<void*> weight_buffer_types() const;
};

}  // namespace ingot
