// ONNX products: Gemm, MatMul and their integer kin.
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"
#include "kernels/linear/batched/matmul_batched.h"
#include "kernels/linear/int8/int8_matmul.h"
#include "kernels/linear/matmul/matmul.h"
#include "kernels/quantization/per_tensor.h"
#include "tests/outside/codes.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

bool are_floats(const OnnxCase& onnx, Trial& trial) {
  if (onnx.required(0).is_float()) return true;
  trial.not_applicable("products of " + onnx.required(0).dtype + " are not Ingot's; those of i8 and u8 are");
  return false;
}

// y[m,n] = sum_k a[m,k] b[k,n] by linear.matmul, whose weights are [N, K].
Floats product(Trial& trial, const HostTensor& a, const HostTensor& b) {
  Floats x(a);
  Floats weights(permuted(b, {1, 0}));
  Floats y(Sizes{a.size(0), b.size(1)});
  Matmul::Arguments arguments;
  arguments.x = x.view();
  arguments.weights = weights.view();
  arguments.y = y.view();
  trial.run<Matmul>(arguments);
  return y;
}

void scale_in_place(Trial& trial, Floats& x, double factor) {
  if (factor != 1) trial.run<Scale>({.x = x.view(), .factor = static_cast<float>(factor), .y = x.view()});
}

void gemm(const OnnxCase& onnx, Trial& trial) {
  if (!are_floats(onnx, trial)) return;
  const bool transpose_a = onnx.integer("transA", 0) != 0;
  const bool transpose_b = onnx.integer("transB", 0) != 0;
  const HostTensor& a = onnx.required(0);
  const HostTensor& b = onnx.required(1);
  const HostTensor plain_a = transpose_a ? permuted(a, {1, 0}) : a;
  const HostTensor plain_b = transpose_b ? permuted(b, {1, 0}) : b;
  const Sizes shape = {plain_a.size(0), plain_b.size(1)};

  Floats left(reshaped(a, {1, a.size(0), a.size(1)}));
  Floats right(reshaped(b, {1, b.size(0), b.size(1)}));
  Floats batched(shape);
  trial.run<MatmulBatched>({.a = left.view(),
                            .b = right.view(),
                            .transpose_a = transpose_a,
                            .transpose_b = transpose_b,
                            .y = batched.view({1, shape[0], shape[1]})});
  Floats single = product(trial, plain_a, plain_b);
  for (Floats* y : {&batched, &single}) {
    scale_in_place(trial, *y, onnx.number("alpha", 1));
    if (onnx.input(2) != nullptr) {
      const Result<HostTensor> c = broadcast(onnx.required(2), shape);
      if (!c.ok()) return trial.fail(std::string(c.error().text()));
      Floats bias(c.value());
      scale_in_place(trial, bias, onnx.number("beta", 1));
      trial.run<Add>({.a = y->view(), .b = bias.view(), .y = y->view()});
    }
    trial.expect(0, y->values());
  }
}

// Both operands as batches of matrices, repeated to a common batch; the result's shape is not needed to compare it.
struct MatrixBatches {
  HostTensor a;  // [I, M, K]
  HostTensor b;  // [I, K, N]
};

Result<MatrixBatches> matrix_batches(HostTensor a, HostTensor b) {
  if (a.rank() == 1) a.shape.insert(a.shape.begin(), 1);
  if (b.rank() == 1) b.shape.push_back(1);
  auto batch_of = [](const HostTensor& tensor) { return Sizes(tensor.shape.begin(), tensor.shape.end() - 2); };
  Sizes longer = batch_of(a);
  Sizes shorter = batch_of(b);
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  const std::size_t missing = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    longer[missing + axis] = shorter[axis] == 1 ? longer[missing + axis] : shorter[axis];
  }
  auto repeated = [&](const HostTensor& tensor) -> Result<HostTensor> {
    Sizes shape = longer;
    shape.insert(shape.end(), tensor.shape.end() - 2, tensor.shape.end());
    HostTensor full = TRY(broadcast(tensor, shape));
    full.shape = {count_of(longer), shape[shape.size() - 2], shape.back()};
    return full;
  };
  return MatrixBatches{TRY(repeated(a)), TRY(repeated(b))};
}

void matmul(const OnnxCase& onnx, Trial& trial) {
  if (!are_floats(onnx, trial)) return;
  const Result<MatrixBatches> made = matrix_batches(onnx.required(0), onnx.required(1));
  if (!made.ok()) return trial.fail(std::string(made.error().text()));
  const auto& [a, b] = made.value();
  Floats left(a);
  Floats right(b);
  Floats y(Sizes{a.size(0), a.size(1), b.size(2)});
  trial.run<MatmulBatched>({.a = left.view(), .b = right.view(), .y = y.view()});
  trial.expect(0, y.values());
  if (a.size(0) != 1) return;
  const HostTensor single_a = reshaped(a, {a.size(1), a.size(2)});
  trial.expect(0, product(trial, single_a, reshaped(b, {b.size(1), b.size(2)})).values());
}

bool are_codes(const OnnxCase& onnx, std::initializer_list<std::size_t> inputs, Trial& trial) {
  for (std::size_t index : inputs) {
    const std::string& dtype = onnx.required(index).dtype;
    if (dtype == "i8" || dtype == "u8") continue;
    trial.not_applicable("integer products are of i8 and u8, not of " + dtype);
    return false;
  }
  return true;
}

// A scale or zero point for one matrix of a batch: a single number, a number a row, or those of each matrix.
HostTensor of_matrix(const HostTensor& parameter, std::int64_t matrix, std::int64_t rows) {
  if (parameter.count() <= rows || rows == 0) return reshaped(parameter, {parameter.count()});
  HostTensor own{parameter.dtype, {rows}, {}};
  const auto begin = parameter.values.begin() + matrix * rows;
  own.values.assign(begin, begin + rows);
  return own;
}

HostTensor single(double value) { return {"f32", {1}, {value}}; }

struct IntegerParameters {
  HostTensor scale = single(1);
  HostTensor zero = single(0);
};

struct IntegerProduct {
  std::vector<double> accumulators;
  std::vector<double> scaled;
};

IntegerProduct integer_product(Trial& trial, const MatrixBatches& batches, const IntegerParameters& left,
                               const IntegerParameters& right) {
  IntegerProduct product;
  const auto& [a, b] = batches;
  const HostTensor weights_of_all = permuted(b, {0, 2, 1});  // [I, N, K]
  auto matrix_of = [](const HostTensor& tensor, std::int64_t matrix) {
    const std::int64_t count = tensor.size(1) * tensor.size(2);
    const auto begin = tensor.values.begin() + matrix * count;
    return HostTensor{tensor.dtype, {tensor.size(1), tensor.size(2)}, {begin, begin + count}};
  };
  for (std::int64_t matrix = 0; matrix < a.size(0); ++matrix) {
    Codes x(matrix_of(a, matrix), a.dtype);
    Codes weights(matrix_of(weights_of_all, matrix), b.dtype);
    Floats x_scale(of_matrix(left.scale, matrix, a.size(1)));
    Floats weight_scale(of_matrix(right.scale, matrix, b.size(2)));
    Buffer<std::int32_t> x_zero(of_matrix(left.zero, matrix, a.size(1)));
    Buffer<std::int32_t> weight_zero(of_matrix(right.zero, matrix, b.size(2)));
    Floats y(Sizes{a.size(1), b.size(2)});
    Buffer<std::int32_t> accumulators(Sizes{a.size(1), b.size(2)});
    Int8Matmul::Arguments arguments;
    arguments.x = x.view();
    arguments.weights = weights.view();
    arguments.x_scale = x_scale.view();
    arguments.weight_scale = weight_scale.view();
    arguments.x_zero = x_zero.view();
    arguments.weight_zero = weight_zero.view();
    arguments.y = y.view();
    arguments.accumulators = accumulators.view();
    trial.run<Int8Matmul>(arguments);
    for (double value : accumulators.values()) product.accumulators.push_back(value);
    for (double value : y.values()) product.scaled.push_back(value);
  }
  return product;
}

void matmul_integer(const OnnxCase& onnx, Trial& trial) {
  if (!are_codes(onnx, {0, 1}, trial)) return;
  const Result<MatrixBatches> made = matrix_batches(onnx.required(0), onnx.required(1));
  if (!made.ok()) return trial.fail(std::string(made.error().text()));
  IntegerParameters left;
  IntegerParameters right;
  if (onnx.input(2) != nullptr) left.zero = onnx.required(2);
  if (onnx.input(3) != nullptr) right.zero = onnx.required(3);
  trial.expect(0, integer_product(trial, made.value(), left, right).accumulators);
}

void quantized_matmul(const OnnxCase& onnx, Trial& trial) {
  if (!are_codes(onnx, {0, 3, 7}, trial)) return;
  const Result<MatrixBatches> made = matrix_batches(onnx.required(0), onnx.required(3));
  if (!made.ok()) return trial.fail(std::string(made.error().text()));
  const HostTensor& scale = onnx.required(6);
  const HostTensor& zero = onnx.required(7);
  if (scale.count() != 1) return trial.not_applicable("requantization is by one scale for the whole result");
  const IntegerProduct product =
      integer_product(trial, made.value(), {onnx.required(1), onnx.required(2)}, {onnx.required(4), onnx.required(5)});
  const auto count = static_cast<std::int64_t>(product.scaled.size());
  Floats x(HostTensor{"f32", {count}, product.scaled});
  Floats y_scale(reshaped(scale, {1}));
  Codes y_zero(reshaped(zero, {1}), zero.dtype);
  Codes y(Sizes{count}, zero.dtype);
  trial.run<QuantizePerTensor>({.x = x.view(), .scale = y_scale.view(), .zero_point = y_zero.view(), .y = y.view()});
  trial.expect(0, y.values());
}

}  // namespace

std::span<const Adapter> linear_adapters() {
  static constexpr Adapter adapters[] = {
      {"Gemm", gemm},
      {"MatMul", matmul},
      {"MatMulInteger", matmul_integer},
      {"QLinearMatMul", quantized_matmul},
  };
  return adapters;
}

}  // namespace ingot::outside
