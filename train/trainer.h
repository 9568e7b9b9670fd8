// Trainer: a model's forward, backward and update as three calls on one batch shape. What is trained, from which data
// and how often it is written down is a run's business (training_run.h).
#pragma once

#include "machine/workers.h"
#include "model/plan/plan.h"
#include "model/template/template.h"
#include "train/circuit/backward.h"
#include "train/optimizer.h"

namespace ingot {

struct TrainerOptions {
  std::int64_t batch = 8;     // sequences of a pass
  std::int64_t length = 256;  // tokens of each
  int accumulate = 1;         // passes of a step
  Recompute recompute = Recompute::cheap;
  DType storage = DType::f32;  // or bf16
  int threads = 1;
  OptimizerOptions optimizer = {};
  // Weights that are trained; empty: all that have a derivative.
  WeightNames trained = {};
  std::vector<ForcedVariant> forced = {};
};

class Trainer {
 public:
  // Changes the pass before it is reversed: adapters are added this way.
  using Amend = std::function<Result<void>(Circuit& circuit, const Weights& weights)>;

  // `form` and `base` must outlive the trainer.
  static Result<std::unique_ptr<Trainer>> create(const Template& form, const Weights& base, TrainerOptions options,
                                                 Amend amend = {});

  const TrainerOptions& options() const { return options_; }
  const Parameters& parameters() const { return *parameters_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  std::int64_t tokens_per_pass() const { return options_.batch * options_.length; }
  std::int64_t tokens_per_step() const { return tokens_per_pass() * options_.accumulate; }

  struct StepResult {
    double loss = 0;
    double gradient_norm = 0;  // before clipping
  };
  // One step over `accumulate` batches that lie one behind the other; inputs and targets have tokens_per_step(). On an
  // error the parameters are as they were.
  Result<StepResult> step(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets,
                          std::int64_t number, double learning_rate);
  // Forward and backward alone: the gradients are parameters().gradients(), until the next step.
  Result<double> differentiate(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets);
  // The loss of one batch, without learning from it.
  Result<double> evaluate(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets);
  // After parameters were written from outside.
  Result<void> refresh();

  // Bytes of tensors at their peak: parameters, gradients, what the optimizer remembers, activations, scratch.
  std::size_t peak_bytes() const;
  const Plan& plan() const { return *first_; }
  void observe(Plan::Observer observer) { observer_ = std::move(observer); }

 private:
  Trainer(const Template& form, TrainerOptions options, Amend amend)
      : form_(form), options_(std::move(options)), amend_(std::move(amend)) {}
  Result<void> start(const Weights& base);
  Result<Circuit> forward_circuit(const Weights& weights) const;
  Result<std::unique_ptr<Plan>> training_plan(bool accumulates);
  Result<std::unique_ptr<Plan>> evaluation_plan();
  // Binds a plan whose arena begins `offset` bytes into ours.
  Result<void> bind(Plan& plan, std::size_t offset);
  Result<void> make_room(const Plan& plan, std::size_t offset);
  Result<double> run(Plan& plan, std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets,
                     double share);

  const Template& form_;
  TrainerOptions options_;
  Amend amend_;
  std::unique_ptr<KernelTable> table_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Parameters> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  WeightNames added_to_;          // gradients that a pass only adds to
  std::unique_ptr<Plan> first_;   // replaces gradients
  std::unique_ptr<Plan> others_;  // adds to them; made when a step has more passes than one
  std::unique_ptr<Plan> forward_;
  Memory arena_;  // begins with the gradients
  Memory scratch_;
  Plan::Observer observer_;
};

}  // namespace ingot
