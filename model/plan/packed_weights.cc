#include "model/plan/packed_weights.h"

#include <map>
#include <string>

#include "kernels/all_operations.h"
#include "kernels/linear/interleaved.h"
#include "kernels/linear/matmul_interleaved.h"

namespace ingot {
namespace {

// The tensor of a product's weights that have the layout; -1: they have not.
int packable_weights(const Circuit& circuit, const Step& step) {
  if (step.operation->name != "linear.matmul" || step.integer("layout") != 0) return -1;
  const Operand* read = step.find("weights");
  if (read == nullptr || !read->is_present()) return -1;
  const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(read->tensor)];
  const bool fits = tensor.storage == Storage::weight && *read == circuit.whole(read->tensor) &&
                    tensor.shape.rank() == 2 && can_interleave(tensor.dtype) && tensor.shape[0] % interleaved_rows == 0;
  return fits ? read->tensor : -1;
}

}  // namespace

Result<Weights> pack_weights(const Circuit& circuit, const KernelTable& table, Context& context) {
  const Operation& operation = *find_operation("linear.pack");
  Weights packed;
  for (const Step& step : circuit.steps) {
    const int index = packable_weights(circuit, step);
    if (index < 0) continue;
    const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(index)];
    if (packed.has(tensor.name)) continue;
    const std::unique_ptr<Invocation> pack = operation.empty();
    // Only read: `rows` is an input.
    const AnyView rows(const_cast<std::byte*>(tensor.weight.data()), tensor.dtype, tensor.shape,
                       tensor.weight.byte_strides());
    TRY(pack->set_tensor(operation.field_index("rows"), rows));
    const AnyView target = TRY(packed.add_owned(tensor.name, tensor.dtype, tensor.shape));
    TRY(pack->set_tensor(operation.field_index("packed"), target));
    TRY(pack->check());
    pack->run(table.choose(operation, *pack), context);
  }
  return packed;
}

int use_packed_weights(Circuit& circuit, const Weights& packed) {
  std::map<int, Operand> added;  // by the tensor that a packed one stands for
  int count = 0;
  for (Step& step : circuit.steps) {
    const int index = packable_weights(circuit, step);
    if (index < 0 || step.find("x")->shape[0] > interleaved_rows_at_once) continue;
    const std::string name = circuit.tensors[static_cast<std::size_t>(index)].name;
    const ConstAnyView* view = packed.find(name);
    if (view == nullptr) continue;
    auto found = added.find(index);
    if (found == added.end()) {
      const Operand whole = circuit.add({.name = name + "@interleaved8",
                                         .storage = Storage::weight,
                                         .dtype = view->dtype(),
                                         .shape = view->shape(),
                                         .weight = *view});
      found = added.emplace(index, whole).first;
    }
    for (BoundOperand& bound : step.operands) {
      if (bound.operand.tensor == index) bound.operand = found->second;
    }
    step.set("layout", static_cast<std::int64_t>(WeightLayout::interleaved8));
    ++count;
  }
  return count;
}

}  // namespace ingot
