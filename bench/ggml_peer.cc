#include "bench/ggml_peer.h"

#include <dlfcn.h>

#include <cstdio>
#include <type_traits>

namespace ingot {

bool Ggml::load(const std::string& folder) {
  void* libraries[2];
  const char* names[] = {"libggml-base.so", "libggml-cpu.so"};
  for (int i = 0; i < 2; ++i) {
    libraries[i] = dlopen((folder + "/" + names[i]).c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (libraries[i] == nullptr) {
      std::fprintf(stderr, "expected a built llama.cpp, found: %s\n", dlerror());
      return false;
    }
  }
  bool all = true;
  auto find = [&](auto& function, const char* name) {
    for (void* library : libraries) {
      if (function == nullptr) function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    }
    if (function == nullptr) std::fprintf(stderr, "expected %s in llama.cpp's libraries, found none\n", name);
    all = all && function != nullptr;
  };
  find(init, "ggml_init");
  find(free, "ggml_free");
  find(new_tensor_4d, "ggml_new_tensor_4d");
  find(get_data, "ggml_get_data");
  find(mul_mat, "ggml_mul_mat");
  find(flash_attn_ext, "ggml_flash_attn_ext");
  find(flash_attn_ext_set_prec, "ggml_flash_attn_ext_set_prec");
  find(new_graph, "ggml_new_graph");
  find(build_forward_expand, "ggml_build_forward_expand");
  find(graph_compute, "ggml_backend_graph_compute");
  find(cpu_init, "ggml_backend_cpu_init");
  find(cpu_set_n_threads, "ggml_backend_cpu_set_n_threads");
  find(cpu_registry, "ggml_backend_cpu_reg");
  find(registry_device, "ggml_backend_reg_dev_get");
  find(registry_address, "ggml_backend_reg_get_proc_address");
  find(device_supports, "ggml_backend_dev_supports_op");
  find(buffer_type_name, "ggml_backend_buft_name");
  find(allocate_tensors, "ggml_backend_alloc_ctx_tensors_from_buft");
  find(default_buffer_type, "ggml_backend_cpu_buffer_type");
  find(buffer_free, "ggml_backend_buffer_free");
  find(tensor_set, "ggml_backend_tensor_set");
  find(log_set, "ggml_log_set");
  if (all) log_set([](int, const char*, void*) {}, nullptr);  // it tells of every tensor that it lays out anew
  return all;
}

std::vector<void*> Ggml::weight_buffer_types() const {
  std::vector<void*> types = {default_buffer_type()};
  void* registry = cpu_registry();
  using ListFunction = void** (*)(void* device);
  const auto list = reinterpret_cast<ListFunction>(registry_address(registry, "ggml_backend_dev_get_extra_bufts"));
  if (list == nullptr) return types;
  for (void** type = list(registry_device(registry, 0)); type != nullptr && *type != nullptr; ++type) {
    types.push_back(*type);
  }
  return types;
}

}  // namespace ingot
