#include "engine/golden_comparison.h"

#include <algorithm>
#include <cmath>

#include "engine/session_guards.h"
#include "kernels/contract/footprint.h"
#include "model/files/safetensors.h"
#include "model/template/pass_inputs.h"

namespace ingot {
namespace {

Result<std::vector<float>> floats_of(const StoredTensor& tensor, std::string_view name) {
  if (!is_floating_point(tensor.view.dtype())) {
    return Error::of(ErrorCode::corrupt, name, ": expected floating-point numbers, found ", tensor.view.dtype());
  }
  std::vector<float> values(static_cast<std::size_t>(tensor.view.count()));
  decode_all(tensor.view, values.data());
  return values;
}

// An operand that a step writes, to be looked at when it has.
struct Probe {
  std::size_t step;
  int field;
  std::string_view makes;
};

// Where what leaves block `layer - 1` is made; for 0, what enters the first block; for -1, the result. Templates name
// tensors in the order of a pass, so a block's result is the last that carries its name, whichever fused step makes it.
int tensor_of(const Circuit& circuit, int layer) {
  const std::string prefix = "blk." + std::to_string(layer - 1) + ".";
  int found = -1;
  for (int index = 0; index < static_cast<int>(circuit.tensors.size()); ++index) {
    const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(index)];
    if (layer < 0 && tensor.name == pass_inputs::result) return index;
    if (layer < 0 || tensor.storage != Storage::activation) continue;
    if (layer == 0 && tensor.name.starts_with("blk.")) break;
    if (layer == 0 || tensor.name.starts_with(prefix)) found = index;
  }
  return found;
}

std::optional<Probe> probe_of(const Circuit& circuit, int layer) {
  const int tensor = tensor_of(circuit, layer);
  for (std::size_t step = circuit.steps.size(); tensor >= 0 && step-- > 0;) {
    for (const BoundOperand& bound : circuit.steps[step].operands) {
      const FieldInformation& field = circuit.steps[step].operation->fields[static_cast<std::size_t>(bound.field)];
      if (bound.operand.tensor != tensor || field.role != Role::output) continue;
      return Probe{step, bound.field, circuit.tensors[static_cast<std::size_t>(tensor)].name};
    }
  }
  return std::nullopt;
}

double relative_error(std::span<const float> expected, std::span<const float> found) {
  double largest = 0;
  double worst = 0;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    largest = std::max(largest, std::fabs(double{expected[index]}));
    const double error = std::fabs(double{expected[index]} - found[index]);
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  return worst == 0 ? 0 : worst / largest;
}

// What a step made, wherever it lies, as numbers.
Result<std::vector<float>> numbers_of(const ConstAnyView& view, const DeviceSide* side) {
  std::vector<float> numbers(static_cast<std::size_t>(view.count()));
  if (view.place().is_host() || view.empty()) {
    decode_all(view, numbers.data());
    return numbers;
  }
  const Footprint footprint = footprint_of(view);
  const std::size_t origin = reinterpret_cast<std::uintptr_t>(view.data()) - footprint.begin;
  std::vector<std::byte> bytes(footprint.size());
  side->queue().copy_out(bytes.data(), view.data() - origin, bytes.size());
  TRY(side->queue().wait());
  decode_all(AnyView(bytes.data() + origin, view.dtype(), view.shape(), view.byte_strides()), numbers.data());
  return numbers;
}

}  // namespace

Result<Golden> Golden::open(const std::string& path) {
  const SafetensorsFile file = TRY(SafetensorsFile::open(path));
  const StoredTensors tensors = TRY(file.tensors());
  Golden golden;
  const StoredTensor* tokens = tensors.find("tokens.0");
  if (tokens == nullptr || tokens->view.dtype() != DType::i64 || tokens->view.rank() != 1 || tokens->view.empty()) {
    return Error::of(ErrorCode::corrupt, path, ": expected tokens.0, a list of i64, found ",
                     tokens == nullptr ? "no such tensor" : "another shape or type");
  }
  const auto ids = tokens->view.as<const std::int64_t>();
  for (std::int64_t index = 0; index < ids.size(0); ++index) {
    if (ids(index) < 0 || ids(index) > INT32_MAX) {
      return Error::of(ErrorCode::corrupt, path, ": expected tokens of 31 bits, found ", ids(index));
    }
    golden.tokens_.push_back(static_cast<std::int32_t>(ids(index)));
  }
  const auto add = [&](const std::string& name, int layer) -> Result<bool> {
    const StoredTensor* tensor = tensors.find(name);
    if (tensor == nullptr) return false;
    golden.records_.push_back({name, layer, TRY(floats_of(*tensor, name))});
    return true;
  };
  for (int layer = 0; TRY(add("hidden.0." + std::to_string(layer), layer)); ++layer) {
  }
  if (!TRY(add("logits.0", -1))) TRY(add("last_hidden.0", -1));
  if (golden.records_.empty()) {
    return Error::of(ErrorCode::corrupt, path, ": expected hidden.0.0, logits.0 or last_hidden.0, found none of them");
  }
  return golden;
}

Result<GoldenComparison> compare_with_golden(Session& session, const Golden& golden, double tolerance) {
  const auto count = static_cast<std::int64_t>(golden.tokens().size());
  if (count > session.options().chunk) {
    return Error::of(ErrorCode::out_of_range, "expected a sequence of at most ", session.options().chunk,
                     " tokens, found ", count);
  }
  const Plan& plan = *TRY(session.plan_for({.runs = {count}, .outputs = count}));
  const Circuit& circuit = plan.circuit();
  std::vector<Probe> probes;
  for (const Golden::Record& record : golden.records()) {
    const std::optional<Probe> probe = probe_of(circuit, record.layer);
    if (!probe) {
      return Error::of(ErrorCode::not_found, record.name, ": expected a model of at least ", record.layer,
                       " blocks, found ", session.model().facts().layers);
    }
    const std::int64_t found = plan.invocation(probe->step).tensor(probe->field).count();
    if (found != static_cast<std::int64_t>(record.values.size())) {
      return Error::of(ErrorCode::invalid_argument, record.name, ": expected ", found, " numbers as ", probe->makes,
                       " has, found ", record.values.size());
    }
    probes.push_back(*probe);
  }

  GoldenComparison comparison;
  comparison.checkpoints.resize(probes.size());
  Result<void> looked;
  // The arena is used again and again: what a step made is looked at before the next one runs.
  const Observation observation(session, [&](std::size_t step) {
    for (std::size_t index = 0; index < probes.size(); ++index) {
      if (probes[index].step != step) continue;
      const std::vector<float>& expected = golden.records()[index].values;
      const auto found = numbers_of(plan.invocation(step).tensor(probes[index].field), session.device_side());
      if (found.ok()) {
        comparison.checkpoints[index].error = relative_error(expected, found.value());
      } else {
        looked = found.error();
      }
    }
  });
  OwnSequences own(session);
  const int sequence = TRY(own.add());
  TRY(session.forward({sequence, golden.tokens(), Wanted::all}));
  TRY(looked);

  std::size_t begin = 0;
  for (std::size_t index = 0; index < probes.size(); ++index) {
    GoldenCheckpoint& checkpoint = comparison.checkpoints[index];
    checkpoint.name = golden.records()[index].name;
    checkpoint.first_step = circuit.steps[std::min(begin, probes[index].step)].name;
    checkpoint.makes = probes[index].makes;
    checkpoint.steps = static_cast<std::int64_t>(probes[index].step + 1 - std::min(begin, probes[index].step));
    checkpoint.diverges = !(checkpoint.error <= tolerance);
    if (checkpoint.diverges && !comparison.first_divergence) comparison.first_divergence = index;
    begin = probes[index].step + 1;
  }
  return comparison;
}

}  // namespace ingot
