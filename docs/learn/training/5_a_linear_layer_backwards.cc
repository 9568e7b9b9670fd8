// Y = X W^T + b, and what a change of X, W or b does to a loss that looks at Y.
#include <cmath>
#include <vector>

#include "docs/learn/lesson.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/linear/matmul/matmul_backward.h"

using namespace ingot;

namespace {

constexpr std::int64_t rows = 3;     // M: examples
constexpr std::int64_t inputs = 4;   // K
constexpr std::int64_t outputs = 2;  // N

// The textbook's sums, in double.
struct Layer {
  std::vector<double> x = {0.5, -1, 2, 0.25, 1, 1, -0.5, 0, -2, 0.75, 1.5, 1};  // [M, K]
  std::vector<double> w = {1, -0.5, 0.25, 2, -1, 0.5, 1, -0.75};                // [N, K]
  std::vector<double> b = {0.1, -0.2};                                          // [N]

  double y(std::int64_t m, std::int64_t n) const {
    double sum = b[static_cast<std::size_t>(n)];
    for (std::int64_t k = 0; k < inputs; ++k) {
      sum += x[static_cast<std::size_t>(m * inputs + k)] * w[static_cast<std::size_t>(n * inputs + k)];
    }
    return sum;
  }
  // L = sum of y^2 / 2, so that G = dL/dY is Y itself.
  double loss() const {
    double sum = 0;
    for (std::int64_t m = 0; m < rows; ++m) {
      for (std::int64_t n = 0; n < outputs; ++n) sum += y(m, n) * y(m, n) / 2;
    }
    return sum;
  }
};

// How the loss changes with one number: the definition, with a small step.
double slope(Layer& layer, double& number) {
  constexpr double step = 1e-5;
  const double before = number;
  number = before + step;
  const double above = layer.loss();
  number = before - step;
  const double below = layer.loss();
  number = before;
  return (above - below) / (2 * step);
}

bool is_close(double left, double right) { return std::fabs(left - right) < 1e-5 * (1 + std::fabs(right)); }

std::vector<float> floats(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

}  // namespace

int main() {
  Layer layer;
  // One entry of Y is y[m,n] = sum_k x[m,k] w[n,k] + b[n]. Its derivative by w[n,k] is x[m,k], by x[m,k] it is w[n,k],
  // by b[n] it is 1. The chain rule sums G[m,n] times that over every y that the number touches:
  //   w[n,k] touches y[m,n] for all m:   dW[n,k] = sum_m G[m,n] x[m,k]   dW = G^T X
  //   x[m,k] touches y[m,n] for all n:   dX[m,k] = sum_n G[m,n] w[n,k]   dX = G W
  //   b[n]   touches y[m,n] for all m:   db[n]   = sum_m G[m,n]
  double dw = 0;
  for (std::int64_t m = 0; m < rows; ++m) dw += layer.y(m, 1) * layer.x[static_cast<std::size_t>(m * inputs + 2)];
  fact(is_close(slope(layer, layer.w[1 * inputs + 2]), dw), "dW[n,k] = sum over m of G[m,n] X[m,k]");
  double dx = 0;
  for (std::int64_t n = 0; n < outputs; ++n) dx += layer.y(0, n) * layer.w[static_cast<std::size_t>(n * inputs + 3)];
  fact(is_close(slope(layer, layer.x[3]), dx), "dX[m,k] = sum over n of G[m,n] W[n,k]");
  double db = 0;
  for (std::int64_t m = 0; m < rows; ++m) db += layer.y(m, 0);
  fact(is_close(slope(layer, layer.b[0]), db), "db[n] = sum over m of G[m,n]");

  // The same three sums as contracts: one operation each, because a frozen weight needs no dW, the first layer no dX.
  std::vector<float> x = floats(layer.x), w = floats(layer.w), b = floats(layer.b);
  std::vector<float> g(rows * outputs), weight_gradient(outputs * inputs), input_gradient(rows * inputs),
      bias_gradient(outputs);
  const std::unique_ptr<Workers> workers = Workers::create({.threads = 1}).value();
  Context context{*workers, {}};
  const View<float> y(g.data(), {rows, outputs});
  Matmul::Arguments forward;
  forward.x = View<float>(x.data(), {rows, inputs});
  forward.weights = View<float>(w.data(), {outputs, inputs});
  forward.bias = View<float>(b.data(), {outputs});
  forward.y = y;
  matmul_reference(forward, context);
  fact(is_close(g[1], layer.y(0, 1)), "linear.matmul computes Y = X W^T + b");

  MatmulBackwardWeight::Arguments by_weight;
  by_weight.x = forward.x;
  by_weight.dy = y;
  by_weight.dweights = View<float>(weight_gradient.data(), {outputs, inputs});
  matmul_backward_weight_reference(by_weight, context);
  MatmulBackwardInput::Arguments by_input;
  by_input.weights = forward.weights;
  by_input.dy = y;
  by_input.dx = View<float>(input_gradient.data(), {rows, inputs});
  matmul_backward_input_reference(by_input, context);
  MatmulBackwardBias::Arguments by_bias;
  by_bias.dy = y;
  by_bias.dbias = View<float>(bias_gradient.data(), {outputs});
  matmul_backward_bias_reference(by_bias, context);
  bool all = true;
  for (std::size_t index = 0; index < layer.w.size(); ++index) {
    all &= is_close(weight_gradient[index], slope(layer, layer.w[index]));
  }
  fact(all, "linear.matmul_backward_weight gives dW: every entry is the loss's slope");
  all = true;
  for (std::size_t index = 0; index < layer.x.size(); ++index) {
    all &= is_close(input_gradient[index], slope(layer, layer.x[index]));
  }
  fact(all, "linear.matmul_backward_input gives dX: what the layer before receives as its G");
  fact(is_close(bias_gradient[1], slope(layer, layer.b[1])), "linear.matmul_backward_bias gives db");

  // A step against the gradient makes the loss smaller: that is all of training.
  const double before = layer.loss();
  for (std::size_t index = 0; index < layer.w.size(); ++index) layer.w[index] -= 0.01 * weight_gradient[index];
  fact(layer.loss() < before, "W - rate dW has a smaller loss than W");
}
