#include "model/circuit/builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/all_operations.h"
#include "kernels/linear/weights.h"

namespace ingot {
namespace {

// Splits or joins axes without moving an element; fails where the strides do not allow it. Both shapes have the same
// number of elements. Walks both lists of axes from the innermost outwards, a group of equal products at a time. Where
// an axis of one element lies does not matter.
Result<Strides> strides_after_reshape(const Operand& operand, const Shape& shape, std::int64_t element_bytes) {
  Strides strides = shape;
  int from = operand.shape.rank() - 1;
  int to = shape.rank() - 1;
  while (to >= 0) {
    if (from < 0) {
      strides[to--] = element_bytes;  // only axes of one element are left
      continue;
    }
    while (shape[to] != 1 && from > 0 && operand.shape[from] == 1) --from;
    std::int64_t stride = operand.byte_strides[from];
    std::int64_t available = operand.shape[from];
    std::int64_t wanted = shape[to];
    int first = from;
    int last = to;
    while (available != wanted) {
      if (available < wanted) {
        const int inner = first--;
        while (first > 0 && operand.shape[first] == 1) --first;
        if (first < 0 || operand.byte_strides[first] != operand.byte_strides[inner] * operand.shape[inner]) {
          return Error::of(ErrorCode::invalid_argument, "expected axes that can be joined without a copy, found ",
                           operand.shape, " for ", shape);
        }
        available *= operand.shape[first];
      } else {
        if (--last < 0) return Error::of(ErrorCode::invalid_argument, "expected ", shape, ", found ", operand.shape);
        wanted *= shape[last];
      }
    }
    for (int axis = to; axis >= last; --axis) {
      strides[axis] = stride;
      stride *= shape[axis];
    }
    from = first - 1;
    to = last - 1;
  }
  return strides;
}

// Files drop outer axes of one element when they are written again, because the format cannot tell them apart.
Shape without_outer_ones(const Shape& shape) {
  const auto* first = std::find_if(shape.begin(), shape.end(), [](std::int64_t size) { return size != 1; });
  return Shape(std::span(first, shape.end()));
}

}  // namespace

std::int64_t PassShape::tokens() const { return std::accumulate(runs.begin(), runs.end(), std::int64_t{0}); }

std::int64_t CircuitBuilder::longest_sequence() const {
  if (kept_) return kept_->longest;
  return pass_.runs.empty() ? 0 : std::ranges::max(pass_.runs);
}

void CircuitBuilder::fail(const Error& error) {
  if (!mistake_) mistake_ = error;
}

std::string CircuitBuilder::full_name(std::string_view name) const { return layer_prefix(layer_) + std::string(name); }

Operand CircuitBuilder::add(CircuitTensor tensor) {
  const auto [position, is_new] = positions_.try_emplace(tensor.name, static_cast<int>(circuit_.tensors.size()));
  if (is_new) return circuit_.add(std::move(tensor));
  if (tensor.storage == Storage::activation || tensor.storage == Storage::output) {
    fail(Error::of(ErrorCode::invalid_argument, "expected a new name for a tensor, found ", tensor.name, " twice"));
  }
  return circuit_.whole(position->second);
}

bool CircuitBuilder::has_weight(std::string_view name) const {
  const std::string full = full_name(name);
  return weights_.find_stored(full).view != nullptr || (missing_ != nullptr && missing_->includes(full));
}

Operand CircuitBuilder::optional_weight(std::string_view name, const Shape& shape) {
  return has_weight(name) ? weight(name, shape) : Operand{};
}

Operand CircuitBuilder::weight(std::string_view name, const Shape& shape) {
  return shared_weight(full_name(name), shape);
}

Operand CircuitBuilder::shared_weight(std::string_view name, const Shape& shape) {
  auto [full, view] = weights_.find_stored(name);
  if (view == nullptr) full = name;
  if (view == nullptr && missing_ != nullptr) {
    const Result<void> added = missing_->add(full, shape);
    if (!added.ok()) fail(added.error());
    view = weights_.find(full);
  }
  if (view == nullptr) {
    fail(Error::of(ErrorCode::not_found, "expected a weight ", full, " of ", shape, ", found none of that name"));
    return {};
  }
  if (!(without_outer_ones(view->shape()) == without_outer_ones(shape))) {
    fail(Error::of(ErrorCode::invalid_argument, "expected ", full, " of ", shape, ", found ", view->shape()));
    return {};
  }
  const Shape stored = view->shape();
  return reshaped(
      add({.name = full, .storage = Storage::weight, .dtype = view->dtype(), .shape = stored, .weight = *view}), shape);
}

Operand CircuitBuilder::input(std::string_view name, DType dtype, const Shape& shape) {
  return add({.name = std::string(name), .storage = Storage::input, .dtype = dtype, .shape = shape});
}

Operand CircuitBuilder::activation(std::string_view name, const Shape& shape, DType dtype) {
  return add({.name = full_name(name), .storage = Storage::activation, .dtype = dtype, .shape = shape});
}

Operand CircuitBuilder::output(std::string_view name, const Shape& shape) {
  return add({.name = std::string(name), .storage = Storage::output, .dtype = DType::f32, .shape = shape});
}

StateOperands CircuitBuilder::state(std::string_view name, int run_group, const Shape& shape) {
  Shape all = {joins_runs() ? static_cast<std::int64_t>(pass_.runs.size()) : 1};
  for (const std::int64_t size : shape) all.push_back(size);
  const std::string of_run_group = std::string(name) + "@" + std::to_string(run_group);
  if (!remembers()) return {{}, activation(of_run_group, all)};
  const Operand kept = add({.name = full_name(of_run_group),
                            .storage = Storage::state,
                            .dtype = DType::f32,
                            .shape = all,
                            .run = run_group});
  return {kept, kept};
}

void CircuitBuilder::call(std::string_view operation, std::string_view makes,
                          std::initializer_list<NamedOperand> operands,
                          std::initializer_list<NamedAttribute> attributes) {
  if (mistake_) return;  // what follows a mistake would only repeat it
  Step step;
  step.operation = find_operation(operation);
  step.name = full_name(makes);
  step.layer = layer_;
  if (step.operation == nullptr) {
    return fail(Error::of(ErrorCode::not_found, "expected an operation, found ", operation));
  }
  const auto index_of = [&](std::string_view field, bool is_tensor) {
    const int index = step.operation->field_index(field);
    if (index >= 0 && step.operation->fields[static_cast<std::size_t>(index)].is_tensor == is_tensor) return index;
    fail(Error::of(ErrorCode::not_found, operation, ": expected a field of its own, found ", field));
    return -1;
  };
  for (const NamedOperand& named : operands) {
    if (named.operand.is_present()) step.operands.push_back({index_of(named.field, true), named.operand});
  }
  for (const NamedAttribute& named : attributes) {
    step.attributes.push_back({index_of(named.field, false), named.value});
  }
  mark_layout(step);
  circuit_.steps.push_back(std::move(step));
}

void CircuitBuilder::mark_layout(Step& step) {
  for (const BoundOperand& bound : step.operands) {
    const CircuitTensor& tensor = circuit_.tensors[static_cast<std::size_t>(bound.operand.tensor)];
    if (tensor.storage != Storage::weight || !names_interleaved(tensor.name)) continue;
    if (step.operation->field_index("layout") < 0 || !(bound.operand == circuit_.whole(bound.operand.tensor))) {
      return fail(Error::of(ErrorCode::unsupported, step.operation->name, ": expected rows of weights, found ",
                            tensor.name,
                            ", which only products with all of it and lookups can read: see ingot pack --undo"));
    }
    step.set("layout", static_cast<std::int64_t>(WeightLayout::interleaved8));
  }
}

DType CircuitBuilder::dtype_of(const Operand& operand) const {
  return operand.is_present() ? circuit_.tensors[static_cast<std::size_t>(operand.tensor)].dtype : DType::f32;
}

Operand CircuitBuilder::reshaped(const Operand& operand, const Shape& shape) {
  if (!operand.is_present()) return operand;
  if (element_count(shape) != element_count(operand.shape)) {
    fail(Error::of(ErrorCode::invalid_argument, "expected as many elements as ", operand.shape, ", found ", shape));
    return operand;
  }
  const Result<Strides> strides = strides_after_reshape(operand, shape, block_bytes(dtype_of(operand)));
  if (!strides.ok()) {
    fail(strides.error());
    return operand;
  }
  return {operand.tensor, shape, strides.value(), operand.byte_offset};
}

Operand CircuitBuilder::sliced(const Operand& operand, int axis, std::int64_t begin, std::int64_t end) {
  if (!operand.is_present()) return operand;
  if (axis < 0 || axis >= operand.shape.rank() || begin < 0 || begin > end || end > operand.shape[axis]) {
    fail(Error::of(ErrorCode::out_of_range, "expected a slice of ", operand.shape, ", found ", begin, " to ", end,
                   " of axis ", axis));
    return operand;
  }
  Operand part = operand;
  part.shape[axis] = end - begin;
  const std::int64_t blocks = axis == operand.shape.rank() - 1 ? begin / block_elements(dtype_of(operand)) : begin;
  part.byte_offset += blocks * operand.byte_strides[axis];
  return part;
}

Operand CircuitBuilder::transposed(const Operand& operand, int first, int second) {
  Operand swapped = operand;
  std::swap(swapped.shape[first], swapped.shape[second]);
  std::swap(swapped.byte_strides[first], swapped.byte_strides[second]);
  return swapped;
}

bool CircuitBuilder::joins_runs() const {
  return !remembers() && std::ranges::all_of(pass_.runs, [&](std::int64_t run) { return run == pass_.runs[0]; });
}

int CircuitBuilder::run_groups() const { return joins_runs() ? 1 : static_cast<int>(pass_.runs.size()); }

Operand CircuitBuilder::of_run_group(const Operand& operand, int run_group) {
  const std::int64_t sequences = joins_runs() ? static_cast<std::int64_t>(pass_.runs.size()) : 1;
  const std::int64_t time = pass_.runs[static_cast<std::size_t>(run_group)];
  const std::int64_t begin = std::accumulate(pass_.runs.begin(), pass_.runs.begin() + run_group, std::int64_t{0});
  const Operand tokens = sliced(operand, 0, begin, begin + sequences * time);
  Shape shape = {sequences, time};
  for (int axis = 1; axis < tokens.shape.rank(); ++axis) shape.push_back(tokens.shape[axis]);
  return reshaped(tokens, shape);
}

Result<Circuit> CircuitBuilder::finish() {
  if (mistake_) return *mistake_;
  return std::move(circuit_);
}

}  // namespace ingot
