// Trial: one run of one case through Ingot's operations, and its verdict. A case is tried once with the variants the
// table chooses, then again with the next best of every operation, until none has a further one.
#pragma once

#include "kernels/contract/run.h"
#include "machine/memory.h"
#include "tests/outside/onnx_case.h"

namespace ingot::outside {

enum class Verdict : std::uint8_t { passed, not_applicable, failed };

// What all trials use.
struct Bench {
  const KernelTable& table;
  Workers& workers;
};

class Trial {
 public:
  // preference 0: what the table chooses; n: the n-th further variant that takes the arguments, or the last one.
  Trial(const Bench& bench, const OnnxCase& onnx, int preference)
      : bench_(bench), case_(onnx), preference_(preference) {}

  // Failures are remembered, so that an adapter reads as a plain list of steps.
  template <KernelContract Op>
  void run(const typename Op::Arguments& arguments);

  // Compares what was computed with an output of the case. Outputs that the case does not name are not compared.
  void expect(std::size_t output, const std::vector<double>& found);
  void expect_exactly(std::size_t output, const std::vector<double>& found);
  void fail(std::string text);
  // The first reason is kept. A case that is not applicable for one reason is not failed for another.
  void not_applicable(std::string reason);

  Verdict verdict() const { return verdict_; }
  const std::string& text() const { return text_; }
  bool has_further_variants() const { return has_further_variants_; }

 private:
  void compare(std::size_t output, const std::vector<double>& found, bool is_exact);

  const Bench& bench_;
  const OnnxCase& case_;
  int preference_;
  Verdict verdict_ = Verdict::passed;
  std::string text_;
  std::string last_variant_;
  bool has_further_variants_ = false;
};

template <KernelContract Op>
void Trial::run(const typename Op::Arguments& arguments) {
  if (verdict_ != Verdict::passed) return;
  const Result<void> checked = check_arguments<Op>(arguments);
  if (!checked.ok()) return fail(std::string(checked.error().text()));
  std::vector<const Variant<Op>*> candidates;
  for (int index : bench_.table.available(Op::name)) {
    const Variant<Op>& variant = Op::variants()[static_cast<std::size_t>(index)];
    if (variant.accepts == nullptr || variant.accepts(arguments)) candidates.push_back(&variant);
  }
  if (candidates.empty()) return fail(std::string(Op::name) + ": no variant takes these arguments");
  const std::size_t chosen = std::min(static_cast<std::size_t>(preference_), candidates.size() - 1);
  has_further_variants_ |= chosen + 1 < candidates.size();
  const Variant<Op>& variant = *candidates[chosen];
  last_variant_ = std::string(Op::name) + " " + std::string(variant.name);
  const std::size_t bytes =
      variant.scratch_bytes == nullptr ? 0 : variant.scratch_bytes(arguments, bench_.workers.count());
  Result<Memory> scratch = Memory::allocate(Bytes(std::max<std::size_t>(bytes, 64)));
  if (!scratch.ok()) return fail(std::string(scratch.error().text()));
  Context context{bench_.workers, {scratch.value().data(), bytes}};
  variant.run(arguments, context);
}

// An adapter turns one kind of ONNX node into operations.
struct Adapter {
  std::string_view operation;
  void (*run)(const OnnxCase& onnx, Trial& trial);
};

// One list a family (see the *_cases.cc beside this).
std::span<const Adapter> activation_adapters();
std::span<const Adapter> attention_adapters();
std::span<const Adapter> linear_adapters();
std::span<const Adapter> loss_adapters();
std::span<const Adapter> norm_adapters();
std::span<const Adapter> optimizer_adapters();
std::span<const Adapter> position_adapters();
std::span<const Adapter> quantization_adapters();
std::span<const Adapter> selection_adapters();
std::span<const Adapter> softmax_adapters();
std::span<const Adapter> state_adapters();

// Why a kind of node has no adapter; empty where nobody has thought about it yet.
std::string_view reason_for_no_adapter(std::string_view operation);

}  // namespace ingot::outside
