#include "model/plan/adapters.h"

#include <algorithm>
#include <map>
#include <optional>

#include "model/circuit/weights.h"

namespace ingot {
namespace {

constexpr std::string_view table_name = "token_embd.weight", head_name = "output.weight";

// The rows of a weight that a product reads.
struct AdaptableRows {
  std::string name;
  Shape shape;  // of all of the weight
  std::int64_t begin = 0;
};

std::optional<AdaptableRows> adaptable_rows(const Circuit& circuit, const Step& step) {
  if (step.operation->name != "linear.matmul") return {};
  const Operand& read = *step.find("weights");
  const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(read.tensor)];
  if (tensor.storage != Storage::weight || tensor.shape.rank() != 2) return {};
  const std::int64_t row = tensor.weight.byte_stride(0);
  const bool are_whole_rows = read.shape.rank() == 2 && read.shape[1] == tensor.shape[1] &&
                              read.byte_strides[0] == row && row > 0 && read.byte_offset % row == 0;
  if (!are_whole_rows) return {};
  std::string name = tensor.name;
  if (names_interleaved(name)) name.resize(name.size() - interleaved_suffix.size());
  if (name == table_name) name = head_name;
  return AdaptableRows{std::move(name), tensor.shape, read.byte_offset / row};
}

class Insertion {
 public:
  Insertion(Circuit& circuit, const FindAdapters& find) : circuit_(circuit), find_(find) {}

  int run() {
    std::vector<Step> steps;
    steps.swap(circuit_.steps);
    int count = 0;
    for (Step& step : steps) {
      const std::optional<AdaptableRows> rows = adaptable_rows(circuit_, step);
      const std::vector<WeightAdapter> adapters = rows ? find_(rows->name) : std::vector<WeightAdapter>();
      if (!adapters.empty()) ++count;
      adapt(std::move(step), rows.value_or(AdaptableRows()), adapters);
    }
    return count;
  }

 private:
  Operand add_activation(const std::string& name, const Shape& shape) {
    return circuit_.add({.name = name, .shape = shape});
  }

  // One tensor for all steps that read it: tied weights, and rows of one.
  Operand add_weight(const std::string& name, const ConstAnyView& view) {
    const auto [place, is_new] = added_.try_emplace(name, -1);
    if (!is_new) return circuit_.whole(place->second);
    const Operand whole = circuit_.add(
        {.name = name, .storage = Storage::weight, .dtype = view.dtype(), .shape = view.shape(), .weight = view});
    place->second = whole.tensor;
    return whole;
  }

  void call(std::string_view operation, const std::string& name, int layer,
            std::initializer_list<std::pair<std::string_view, Operand>> operands) {
    Step step = Step::of(operation, name, layer);
    for (const auto& [field, operand] : operands) step.bind(field, operand);
    circuit_.steps.push_back(std::move(step));
  }

  void adapt(Step step, const AdaptableRows& rows, const std::vector<WeightAdapter>& adapters) {
    if (adapters.empty()) return circuit_.steps.push_back(std::move(step));
    const std::string name = step.name;
    const int layer = step.layer;
    const Operand x = *step.find("x"), y = *step.find("y");
    Operand sum = add_activation(name + ".base", y.shape);
    const int result = step.operation->field_index("y");
    std::ranges::find(step.operands, result, &BoundOperand::field)->operand = sum;
    circuit_.steps.push_back(std::move(step));
    for (const WeightAdapter& adapter : adapters) {
      const bool is_last = &adapter == &adapters.back();
      const std::string marked = name + adapter.mark;
      const Operand first = add_weight(rows.name + std::string(first_adapter_suffix) + adapter.mark, adapter.first);
      Operand second = add_weight(rows.name + std::string(second_adapter_suffix) + adapter.mark, adapter.second);
      second.byte_offset = rows.begin * second.byte_strides[0];
      second.shape[0] = y.shape[1];
      Operand narrow = add_activation(marked + ".narrow", {x.shape[0], adapter.first.size(0)});
      call("linear.matmul", marked + ".narrow", layer, {{"x", x}, {"weights", first}, {"y", narrow}});
      // Where it is narrow, it is soon scaled.
      if (adapter.factor != 1) {
        const Operand scaled = add_activation(marked + ".scaled", narrow.shape);
        call("elementwise.scale", marked + ".scaled", layer, {{"x", narrow}, {"y", scaled}});
        circuit_.steps.back().set("factor", adapter.factor);
        narrow = scaled;
      }
      const Operand wide = add_activation(marked + ".wide", y.shape);
      call("linear.matmul", marked + ".wide", layer, {{"x", narrow}, {"weights", second}, {"y", wide}});
      const Operand next = is_last ? y : add_activation(marked + ".sum", y.shape);
      call("elementwise.add", name + (is_last ? ".adapted" : adapter.mark + ".sum"), layer,
           {{"a", sum}, {"b", wide}, {"y", next}});
      sum = next;
    }
  }

  Circuit& circuit_;
  const FindAdapters& find_;
  std::map<std::string, int> added_;
};

}  // namespace

std::vector<AdaptableWeight> find_adaptable_weights(const Circuit& circuit) {
  std::vector<AdaptableWeight> found;
  for (const Step& step : circuit.steps) {
    std::optional<AdaptableRows> rows = adaptable_rows(circuit, step);
    if (!rows || std::ranges::find(found, rows->name, &AdaptableWeight::name) != found.end()) continue;
    found.push_back({std::move(rows->name), rows->shape});
  }
  return found;
}

int insert_adapters(Circuit& circuit, const FindAdapters& find) { return Insertion(circuit, find).run(); }

}  // namespace ingot
