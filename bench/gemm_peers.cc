#include "bench/gemm_peers.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ingot {
namespace {

// A function of a loaded library; null where it has none of that name.
template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = handle == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(handle, name));
}

void* open(const char* peer, const char* package, const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) std::fprintf(stderr, "missing: %s (Debian: %s): %s\n", peer, package, dlerror());
  return handle;
}

bool is_complete(const GemmPeer& peer) {
  if ((peer.cblas_sgemm != nullptr || peer.dnnl_sgemm != nullptr) && peer.set_threads != nullptr) return true;
  std::fprintf(stderr, "missing: %s lacks a product or a way to set its threads\n", peer.name.c_str());
  return false;
}

const char* openblas_core(PeerCode code) {
  switch (code) {
    case PeerCode::avx512: return "SkylakeX";
    case PeerCode::avx2: return "Haswell";
    case PeerCode::neon: return "THUNDERX2T99";  // the fastest of its NEON kernels on a Neoverse-V1, by a tenth
    case PeerCode::their_choice: return nullptr;
  }
  return nullptr;
}

// Left alone, OpenBLAS 0.3.21 takes its oldest kernels on a CPU that is newer than itself.
void load_openblas(PeerCode code, std::vector<GemmPeer>& peers) {
  if (const char* core = openblas_core(code)) setenv("OPENBLAS_CORETYPE", core, 0);
  void* handle = open("OpenBLAS", "libopenblas0-pthread", "libopenblas.so.0");
  if (handle == nullptr) return;
  GemmPeer peer{"OpenBLAS", nullptr, nullptr, nullptr};
  find(handle, "cblas_sgemm", peer.cblas_sgemm);
  find(handle, "openblas_set_num_threads", peer.set_threads);
  char* (*configuration)() = nullptr;
  find(handle, "openblas_get_config", configuration);
  if (configuration != nullptr) peer.name = configuration();
  if (is_complete(peer)) peers.push_back(peer);
}

// Debian's x86_64 build counts its kernels as skx 0, haswell 3; it takes Haswell's where it does not know how many
// multiply-add units a Xeon has, which it reads from the model's name. On aarch64 it is left its choice.
void load_blis(PeerCode code, std::vector<GemmPeer>& peers) {
  if (code == PeerCode::avx512 || code == PeerCode::avx2)
    setenv("BLIS_ARCH_TYPE", code == PeerCode::avx512 ? "0" : "3", 0);
  void* handle = open("BLIS", "libblis4-pthread", "libblis.so.4");
  if (handle == nullptr) return;
  GemmPeer peer{"BLIS", nullptr, nullptr, nullptr};
  void (*initialise)() = nullptr;  // before it knows whether it has the kernels asked for
  find(handle, "bli_init", initialise);
  if (initialise != nullptr) initialise();
  find(handle, "cblas_sgemm", peer.cblas_sgemm);
  void (*set_threads)(long) = nullptr;
  find(handle, "bli_thread_set_num_threads", set_threads);
  static void (*set_blis_threads)(long);  // the index type of Debian's build is 64 bits wide
  set_blis_threads = set_threads;
  if (set_threads != nullptr) peer.set_threads = [](int threads) { set_blis_threads(threads); };
  const char* (*version)() = nullptr;
  int (*architecture)() = nullptr;
  const char* (*architecture_name)(int) = nullptr;
  find(handle, "bli_info_get_version_str", version);
  find(handle, "bli_arch_query_id", architecture);
  find(handle, "bli_arch_string", architecture_name);
  if (version != nullptr) peer.name += std::string(" ") + version();
  if (architecture != nullptr && architecture_name != nullptr) {
    peer.name += std::string(" ") + architecture_name(architecture());
  }
  if (is_complete(peer)) peers.push_back(peer);
}

// Debian's build takes its threads from OpenMP.
void load_onednn(PeerCode code, std::vector<GemmPeer>& peers) {
  if (code == PeerCode::avx512 || code == PeerCode::avx2) {
    setenv("DNNL_MAX_CPU_ISA", code == PeerCode::avx512 ? "AVX512_CORE" : "AVX2", 0);
  }
  void* handle = open("oneDNN", "libdnnl2", "libdnnl.so.2");
  void* threads = open("OpenMP, for oneDNN", "libgomp1", "libgomp.so.1");
  if (handle == nullptr || threads == nullptr) return;
  GemmPeer peer{"oneDNN", nullptr, nullptr, nullptr};
  find(handle, "dnnl_sgemm", peer.dnnl_sgemm);
  find(threads, "omp_set_num_threads", peer.set_threads);
  struct Version {
    int major, minor, patch;
  };
  const Version* (*version)() = nullptr;
  find(handle, "dnnl_version", version);
  if (version != nullptr) {
    const Version* found = version();
    peer.name +=
        " " + std::to_string(found->major) + "." + std::to_string(found->minor) + "." + std::to_string(found->patch);
  }
  if (is_complete(peer)) peers.push_back(peer);
}

}  // namespace

void GemmPeer::multiply(const GemmShape& shape, const float* x, const float* weights, float* y) const {
  const auto [m, n, k] = shape;
  if (dnnl_sgemm != nullptr) {
    dnnl_sgemm('N', 'T', m, n, k, 1, x, k, weights, k, 0, y, n);
  } else {
    constexpr int row_major = 101, plain = 111, transposed = 112;
    cblas_sgemm(row_major, plain, transposed, m, n, k, 1, x, k, weights, k, 0, y, n);
  }
}

std::vector<GemmPeer> load_gemm_peers(PeerCode code) {
  std::vector<GemmPeer> peers;
  load_openblas(code, peers);
  load_blis(code, peers);
  load_onednn(code, peers);
  return peers;
}

}  // namespace ingot
