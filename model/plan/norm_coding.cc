#include "model/plan/norm_coding.h"

#include <algorithm>
#include <optional>

#include "tensor/block_codes.h"

namespace ingot {
namespace {

// What takes codes in the place of x (kernels/linear/product_input.h).
constexpr std::string_view product_names[] = {"linear.matmul", "linear.gated_matmul", "linear.activated_matmul",
                                              "linear.joint_matmul"};

bool is_product(const Step& step) {
  return std::ranges::find(product_names, step.operation->name) != std::end(product_names);
}

bool is_norm(const Step& step) {
  return step.operation->name == "norm.rms_norm" || step.operation->name == "norm.residual_rms_norm";
}

class NormCoding {
 public:
  explicit NormCoding(Circuit& circuit) : circuit_(circuit) {}

  int run() {
    int count = 0;
    for (std::size_t at = 0; at < circuit_.steps.size(); ++at) {
      if (!is_norm(circuit_.steps[at])) continue;
      const Operand y = *circuit_.steps[at].find("y");
      const std::optional<int> block = block_of_readers(at, y);
      if (!block.has_value()) continue;
      replace(at, y, *block);
      ++count;
    }
    return count;
  }

 private:
  // The one block of all weights that y is multiplied with; none where anybody needs y itself.
  std::optional<int> block_of_readers(std::size_t norm, const Operand& y) const {
    const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(y.tensor)];
    if (tensor.storage != Storage::activation || y.shape.rank() != 2) return {};
    std::optional<int> block;
    for (std::size_t at = 0; at < circuit_.steps.size(); ++at) {
      const Step& step = circuit_.steps[at];
      for (const BoundOperand& bound : step.operands) {
        if (bound.operand.tensor != y.tensor || at == norm) continue;
        if (!is_product(step) || !(bound.operand == y)) return {};
        const std::optional<int> own = block_of_weights(step);
        if (!own.has_value() || (block.has_value() && *block != *own)) return {};
        block = own;
      }
    }
    if (block.has_value() && y.shape[1] % *block != 0) return {};
    return block;
  }

  std::optional<int> block_of_weights(const Step& product) const {
    std::optional<int> block;
    for (const BoundOperand& bound : product.operands) {
      const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      const bool is_matrix = tensor.storage == Storage::weight && bound.operand.shape.rank() == 2;
      if (!is_matrix) continue;
      const int own = block_elements(tensor.dtype);
      const bool is_coded = own == 32 || own == 256;  // what norm.coded_rms_norm makes codes for
      if (!is_coded || (block.has_value() && *block != own)) return {};
      block = own;
    }
    return block;
  }

  void replace(std::size_t at, const Operand& y, int block) {
    const std::string name = circuit_.tensors[static_cast<std::size_t>(y.tensor)].name;
    const std::int64_t rows = y.shape[0], depth = y.shape[1];
    const Operand codes = circuit_.add({.name = name + ".codes", .dtype = DType::i8, .shape = {rows, depth}});
    const Operand scales = circuit_.add({.name = name + ".scales", .shape = {rows, depth / block}});
    const Operand sums =
        circuit_.add({.name = name + ".sums", .dtype = DType::i32, .shape = {rows, depth / code_group}});

    const Step& norm = circuit_.steps[at];
    Step coded = Step::of("norm.coded_rms_norm", norm.name, norm.layer);
    for (const std::string_view field : {"x", "residual", "gamma", "sum"}) {
      if (const Operand* operand = norm.find(field)) coded.bind(field, *operand);
    }
    if (const AttributeValue* epsilon = norm.find_attribute("epsilon")) coded.set("epsilon", *epsilon);
    coded.set("block", std::int64_t{block});
    coded.bind("codes", codes);
    coded.bind("scales", scales);
    coded.bind("sums", sums);
    circuit_.steps[at] = std::move(coded);

    for (Step& step : circuit_.steps) {
      if (std::erase_if(step.operands, [&](const BoundOperand& bound) { return bound.operand.tensor == y.tensor; }) >
          0) {
        step.bind("codes", codes);
        step.bind("scales", scales);
        step.bind("sums", sums);
      }
    }
  }

  Circuit& circuit_;
};

}  // namespace

int code_norms(Circuit& circuit) { return NormCoding(circuit).run(); }

}  // namespace ingot
