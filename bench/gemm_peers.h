// The libraries whose f32 product ours is compared with. They are found at run time: the build needs none of them.
#pragma once

#include <string>
#include <vector>

namespace ingot {

// y[m,n] = sum_k x[m,k] weights[n,k], all packed.
struct GemmShape {
  int rows;
  int columns;
  int depth;
};

struct GemmPeer {
  std::string name;  // with its version and the code it chose
  // CBLAS: order, transpose a, transpose b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
  void (*cblas_sgemm)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
  // oneDNN, row-major: transpose a, transpose b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
  int (*dnnl_sgemm)(char, char, long, long, long, float, const float*, long, const float*, long, float, float*, long);
  void (*set_threads)(int);

  void multiply(const GemmShape& shape, const float* x, const float* weights, float* y) const;
};

enum class PeerCode { avx512, avx2, neon, their_choice };

// The peers that could be loaded, told to use the code named where they ask the environment; those that could not are
// named on standard error.
std::vector<GemmPeer> load_gemm_peers(PeerCode code);

}  // namespace ingot
