#include "model/plan/liveness.h"

#include <algorithm>

namespace ingot {
namespace {

std::int64_t packed_bytes(const CircuitTensor& tensor) {
  return element_count(tensor.shape) / block_elements(tensor.dtype) * block_bytes(tensor.dtype);
}

class Analysis {
 public:
  explicit Analysis(const Circuit& circuit)
      : circuit_(circuit),
        last_step_(static_cast<int>(circuit.steps.size())),
        lives_(circuit.tensors.size(), BufferLife{0, last_step_, -1}) {}

  Liveness run(const GradientPlaces& places) {
    std::vector<bool> begins_read(circuit_.tensors.size(), false);
    for (int step = 0; step < last_step_; ++step) {
      for (const BoundOperand& bound : step_at(step).operands) {
        BufferLife& life = lives_[index_of(bound)];
        const Role role = step_at(step).operation->fields[static_cast<std::size_t>(bound.field)].role;
        if (life.last < 0) begins_read[index_of(bound)] = !is_written(role) || role == Role::state;
        life.first = std::min(life.first, step);
        life.last = std::max(life.last, step);
      }
    }
    liveness_.buffer_of.assign(circuit_.tensors.size(), -1);
    for (std::size_t index = 0; index < lives_.size(); ++index) {
      const CircuitTensor& tensor = circuit_.tensors[index];
      BufferLife& life = lives_[index];
      if (tensor.storage == Storage::gradient && places) life.place = places(tensor);
      if (!lies_in_arena(tensor.storage) && life.place < 0) continue;
      const bool is_touched = life.last >= 0 || tensor.storage == Storage::input;
      life.bytes = is_touched ? packed_bytes(tensor) : 0;
      // Inputs are filled before the first step and outputs read after the last. A gradient is read then too, and holds
      // something before the pass if the pass adds to it.
      const bool is_gradient = tensor.storage == Storage::gradient;
      if (tensor.storage == Storage::input || (is_gradient && begins_read[index])) life.first = 0;
      if (tensor.storage != Storage::activation) life.last = last_step_;
      liveness_.buffer_of[index] = static_cast<int>(liveness_.buffers.size());
      liveness_.buffers.push_back(life);
      liveness_.unshared_bytes += life.bytes;
    }
    for (int step = 0; step < last_step_; ++step) share_in_place(step);
    return compacted();
  }

 private:
  static bool lies_in_arena(Storage storage) {
    return storage == Storage::input || storage == Storage::activation || storage == Storage::output;
  }
  static std::size_t index_of(const BoundOperand& bound) { return static_cast<std::size_t>(bound.operand.tensor); }
  const Step& step_at(int step) const { return circuit_.steps[static_cast<std::size_t>(step)]; }
  std::string_view field_name(const Step& step, const BoundOperand& bound) const {
    return step.operation->fields[static_cast<std::size_t>(bound.field)].name;
  }
  BufferLife& buffer_of(const BoundOperand& bound) {
    return liveness_.buffers[static_cast<std::size_t>(liveness_.buffer_of[index_of(bound)])];
  }

  void share_in_place(int number) {
    const Step& step = step_at(number);
    for (const BoundOperand& written : step.operands) {
      for (const BoundOperand& read : step.operands) {
        if (!may_share(number, written, read)) continue;
        BufferLife& shared = buffer_of(read);
        shared.last = buffer_of(written).last;
        buffer_of(written).bytes = 0;
        liveness_.buffer_of[index_of(written)] = liveness_.buffer_of[index_of(read)];
        break;
      }
    }
  }

  bool may_share(int number, const BoundOperand& written, const BoundOperand& read) {
    const Step& step = step_at(number);
    if (!is_in_place(step, written, read)) return false;
    const CircuitTensor& target = circuit_.tensors[index_of(written)];
    const CircuitTensor& source = circuit_.tensors[index_of(read)];
    if (source.storage != Storage::activation || !lies_in_arena(target.storage)) return false;
    if (buffer_of(read).last != number || lives_[index_of(written)].first != number) return false;
    // The tensors need not be of one shape, but of one size: the buffer is as large as the first of them.
    if (source.dtype != target.dtype || packed_bytes(source) != packed_bytes(target)) return false;
    // Whatever else the step does with the buffer must be the same elements too.
    return std::ranges::all_of(step.operands, [&](const BoundOperand& other) {
      return liveness_.buffer_of[index_of(other)] != liveness_.buffer_of[index_of(read)] ||
             is_in_place(step, written, other);
    });
  }

  bool is_in_place(const Step& step, const BoundOperand& written, const BoundOperand& read) const {
    Operand same = read.operand;
    same.tensor = written.operand.tensor;
    return read.operand.tensor != written.operand.tensor && same == written.operand &&
           std::ranges::any_of(step.operation->in_place, [&](const InPlace& pair) {
             return pair.written == field_name(step, written) && pair.read == field_name(step, read);
           });
  }

  // Without the buffers that nobody has any more.
  Liveness compacted() {
    Liveness compact{.buffers = {}, .buffer_of = liveness_.buffer_of, .unshared_bytes = liveness_.unshared_bytes};
    std::vector<int> position(liveness_.buffers.size(), -1);
    for (int& buffer : compact.buffer_of) {
      if (buffer < 0) continue;
      int& at = position[static_cast<std::size_t>(buffer)];
      if (at < 0) {
        at = static_cast<int>(compact.buffers.size());
        compact.buffers.push_back(liveness_.buffers[static_cast<std::size_t>(buffer)]);
      }
      buffer = at;
    }
    return compact;
  }

  const Circuit& circuit_;
  int last_step_;
  std::vector<BufferLife> lives_;  // of each tensor by itself
  Liveness liveness_;
};

}  // namespace

Liveness liveness_of(const Circuit& circuit, const GradientPlaces& places) { return Analysis(circuit).run(places); }

}  // namespace ingot
