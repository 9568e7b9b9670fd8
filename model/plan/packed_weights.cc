#include "model/plan/packed_weights.h"

#include <algorithm>
#include <map>
#include <string>

#include "kernels/all_operations.h"
#include "kernels/contract/call_queue.h"
#include "kernels/linear/weights.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

// What is read as rows and what is packed of it lie in memory together, so this much is held twice.
constexpr std::int64_t bytes_at_once = 4 << 20;

// Who reads weights in the layout, and by which field.
struct Reader {
  std::string_view operation, field;
  bool is_product;
};
constexpr Reader readers[] = {{"linear.matmul", "weights", true}, {"layout.gather_rows", "table", false}};

// What a step reads that has the layout.
struct PackableUse {
  int tensor = -1;  // none
  bool is_product = false;
};
bool can_lie_so(WeightLayout layout, DType dtype, const Shape& shape) {
  if (shape.rank() != 2) return false;
  if (layout == WeightLayout::interleaved8) return can_interleave(dtype) && shape[0] % interleaved_rows == 0;
  return has_planes(dtype) && shape[0] % plane_rows == 0 && shape[1] % plane_depth == 0;
}
PackableUse packable_use(const Circuit& circuit, const Step& step, WeightLayout layout) {
  const auto* reader =
      std::ranges::find_if(readers, [&](const Reader& one) { return step.operation->name == one.operation; });
  if (reader == std::end(readers) || step.integer("layout") != 0) return {};
  const Operand* read = step.find(reader->field);
  if (read == nullptr || !read->is_present()) return {};
  const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(read->tensor)];
  const bool fits = tensor.storage == Storage::weight && *read == circuit.whole(read->tensor) &&
                    can_lie_so(layout, tensor.dtype, tensor.shape);
  return fits ? PackableUse{read->tensor, reader->is_product} : PackableUse{};
}

}  // namespace

Result<void> pack_rows(const ConstAnyView& rows, WeightLayout layout, const AnyView& packed, const KernelTable& table,
                       Context& context) {
  const Operation& operation = *find_operation("linear.pack");
  const std::unique_ptr<Invocation> pack = operation.empty();
  // Only read: `rows` is an input.
  const AnyView read(const_cast<std::byte*>(rows.data()), rows.dtype(), rows.shape(), rows.byte_strides(),
                     rows.place());
  TRY(pack->set_tensor(operation.field_index("rows"), read));
  pack->set_attribute(operation.field_index("layout"), static_cast<std::int64_t>(layout));
  TRY(pack->set_tensor(operation.field_index("packed"), packed));
  TRY(pack->check());
  if (context.calls != nullptr) return context.calls->put(operation, *pack);
  pack->run(table.choose(operation, *pack), context);
  return {};
}

std::vector<int> find_packable_weights(const Circuit& circuit, const AcceptsType& accepts) {
  std::vector<int> found;
  std::vector<bool> has_other_uses(circuit.tensors.size());
  for (const Step& step : circuit.steps) {
    const auto [tensor, is_product] = packable_use(circuit, step, WeightLayout::interleaved8);
    for (const BoundOperand& bound : step.operands) {
      if (bound.operand.tensor != tensor) has_other_uses[static_cast<std::size_t>(bound.operand.tensor)] = true;
    }
    if (is_product && std::ranges::find(found, tensor) == found.end()) found.push_back(tensor);
  }
  std::erase_if(found, [&](int tensor) {
    const auto index = static_cast<std::size_t>(tensor);
    return has_other_uses[index] || (accepts && !accepts(circuit.tensors[index].dtype));
  });
  return found;
}

std::uint64_t packed_bytes(const Circuit& circuit, const std::vector<int>& tensors) {
  std::uint64_t bytes = 0;
  for (const int index : tensors) {
    const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(index)];
    bytes += Weights::reserved_bytes(tensor.dtype, tensor.shape);
  }
  return bytes;
}

// By AVX-512 VNNI weights are multiplied at the speed of memory as they lie; by NEON that takes lanes of rows, but for
// bytes, which need no unpacking (docs/performance.md): matrix instructions want those packed where x has several rows.
// Those of q4_k are for matrix instructions.
bool packing_pays(DType dtype, const FeatureSet& features, std::int64_t sequences, Neighbours neighbours) {
  if (!can_interleave(dtype) || (dtype == DType::q8_0 && sequences == 1)) return false;
  const bool needs_matrices = dtype == DType::q4_k || dtype == DType::q8_0 || neighbours == Neighbours::never_show;
  return features.contains(needs_matrices ? Feature::i8mm : Feature::dotprod);
}

Result<Weights> pack_weights(const Circuit& circuit, const std::vector<int>& tensors, const KernelTable& table,
                             Context& context, const ReleaseFunction& release) {
  Weights packed;
  TRY(packed.reserve(packed_bytes(circuit, tensors)));
  for (const int index : tensors) {
    const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(index)];
    const AnyView target = TRY(packed.add_owned(tensor.name, tensor.dtype, tensor.shape));
    const std::int64_t row = row_bytes(tensor.dtype, tensor.shape[1]);
    const std::int64_t braids = std::max<std::int64_t>(1, bytes_at_once / (interleaved_rows * row));
    const std::int64_t step = braids * interleaved_rows;
    for (std::int64_t begin = 0; begin < tensor.shape[0]; begin += step) {
      const std::int64_t end = std::min(tensor.shape[0], begin + step);
      const Shape shape = {end - begin, tensor.shape[1]};
      const ConstAnyView rows(tensor.weight.row(begin), tensor.dtype, shape, tensor.weight.byte_strides());
      const AnyView packed_rows(target.row(begin), tensor.dtype, shape);
      TRY(pack_rows(rows, WeightLayout::interleaved8, packed_rows, table, context));
      if (release && tensor.weight.is_contiguous()) {
        release({tensor.weight.row(begin), static_cast<std::size_t>((end - begin) * row)});
      }
    }
  }
  return packed;
}

int use_packed_weights(Circuit& circuit, const Weights& packed) {
  std::map<int, Operand> added;  // by the tensor that a packed one stands for
  int count = 0;
  for (Step& step : circuit.steps) {
    const int index = packable_use(circuit, step, WeightLayout::interleaved8).tensor;
    if (index < 0) continue;
    const std::string name = circuit.tensors[static_cast<std::size_t>(index)].name;
    const ConstAnyView* view = packed.find(name);
    if (view == nullptr) continue;
    auto found = added.find(index);
    if (found == added.end()) {
      const Operand whole = circuit.add({.name = name + std::string(interleaved_suffix),
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

LaidOutWeights find_laid_out_weights(const Circuit& circuit, WeightLayout layout, const AcceptsType& accepts) {
  WeightAddresses found, others;
  for (const Step& step : circuit.steps) {
    const auto [tensor, is_product] = packable_use(circuit, step, layout);
    for (const BoundOperand& bound : step.operands) {
      const CircuitTensor& read = circuit.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      if (read.storage != Storage::weight) continue;
      if (bound.operand.tensor != tensor) {
        others.insert(read.weight.data());
      } else if (is_product && (!accepts || accepts(read.dtype))) {
        found.insert(read.weight.data());
      }
    }
  }
  // Tied weights have two names and lie in one place.
  std::erase_if(found, [&](const std::byte* weight) { return others.contains(weight); });
  return {layout, std::move(found)};
}

int use_laid_out_weights(Circuit& circuit, const LaidOutWeights& laid_out) {
  int count = 0;
  for (Step& step : circuit.steps) {
    const int tensor = packable_use(circuit, step, laid_out.layout).tensor;
    if (tensor < 0) continue;
    if (!laid_out.weights.contains(circuit.tensors[static_cast<std::size_t>(tensor)].weight.data())) continue;
    step.set("layout", static_cast<std::int64_t>(laid_out.layout));
    ++count;
  }
  return count;
}

}  // namespace ingot
