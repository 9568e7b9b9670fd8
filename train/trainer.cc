#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "kernels/all_operations.h"
#include "machine/machine.h"
#include "model/plan/rewrite.h"
#include "model/template/pass_inputs.h"
#include "train/circuit/gradient_sums.h"
#include "train/circuit/loss.h"

namespace ingot {

Result<std::unique_ptr<Trainer>> Trainer::create(const Template& form, const Weights& base, TrainerOptions options,
                                                 Amend amend) {
  std::unique_ptr<Trainer> trainer(new Trainer(form, std::move(options), std::move(amend)));
  TRY(trainer->start(base));
  return trainer;
}

Result<void> Trainer::start(const Weights& base) {
  if (options_.batch < 1 || options_.length < 1 || options_.accumulate < 1) {
    return Error::of(ErrorCode::invalid_argument, "expected at least one sequence, token and pass a step, found ",
                     options_.batch, ", ", options_.length, ", ", options_.accumulate);
  }
  const ModelFacts& facts = form_.facts();
  if (facts.makes_embeddings) {
    return Error::of(ErrorCode::unsupported, "expected a model that predicts tokens, found ", facts.architecture,
                     ", which makes embeddings: it has no next-token loss");
  }
  if (facts.has_position_table && options_.length > facts.context) {
    return Error::of(ErrorCode::out_of_range, "expected sequences of at most the model's ", facts.context,
                     " positions, found ", options_.length);
  }
  const Machine machine = Machine::detect();
  table_ = std::make_unique<KernelTable>(TRY(KernelTable::select(all_operations(), machine.features, options_.forced)));
  workers_ = TRY(Workers::create({.threads = options_.threads}));

  // What has a derivative is found by asking for all of them.
  Circuit trial = TRY(forward_circuit(base));
  WeightNames candidates = options_.trained;
  if (candidates.empty()) {
    for (const auto& [name, view] : base.all()) candidates.insert(name);
  }
  TRY(append_backward(trial, loss_name, candidates, {.recompute = Recompute::nothing}));
  WeightNames trained;
  for (const std::string& name : candidates) {
    if (trial.find(gradient_name(name)) != nullptr) trained.insert(name);
  }
  if (trained.empty())
    return Error::of(ErrorCode::not_found, "expected weights to train, found none with a derivative");
  parameters_ = std::make_unique<Parameters>(TRY(Parameters::create(base, trained, options_.storage)));
  optimizer_ = std::make_unique<Optimizer>(TRY(Optimizer::create(*parameters_, options_.optimizer, *table_)));
  TRY(refresh());
  first_ = TRY(training_plan(false));
  if (options_.accumulate > 1) others_ = TRY(training_plan(true));
  forward_ = TRY(evaluation_plan());
  return {};
}

Result<Circuit> Trainer::forward_circuit(const Weights& weights) const {
  const std::vector<std::int64_t> runs(static_cast<std::size_t>(options_.batch), options_.length);
  CircuitBuilder builder(weights, {.runs = runs, .outputs = options_.batch * options_.length});
  form_.emit(builder);
  Circuit circuit = TRY(builder.finish());
  TRY(append_next_token_loss(circuit));
  if (amend_) TRY(amend_(circuit, weights));
  TRY(apply_rewrites(circuit, {.fusion = Fusion::gates}));
  return circuit;
}

Result<std::unique_ptr<Plan>> Trainer::training_plan(bool accumulates) {
  Circuit circuit = TRY(forward_circuit(parameters_->weights()));
  WeightNames trained;
  std::map<std::string, std::int64_t, std::less<>> places;
  for (const Parameter& parameter : parameters_->all()) {
    trained.insert(parameter.name);
    places.emplace(gradient_name(parameter.name), parameter.offset * static_cast<std::int64_t>(sizeof(float)));
  }
  const BackwardPass backward =
      TRY(append_backward(circuit, loss_name, trained, {.recompute = options_.recompute, .accumulates = accumulates}));
  if (!accumulates) added_to_ = backward.added_to;
  const auto place = [&](const CircuitTensor& tensor) { return places.find(tensor.name)->second; };
  auto plan = std::make_unique<Plan>(TRY(Plan::create(std::move(circuit), *table_, workers_->count(), place)));
  TRY(bind(*plan, 0));
  return plan;
}

// Leaves the gradients as they are.
Result<std::unique_ptr<Plan>> Trainer::evaluation_plan() {
  Circuit circuit = TRY(forward_circuit(parameters_->weights()));
  auto plan = std::make_unique<Plan>(TRY(Plan::create(std::move(circuit), *table_, workers_->count())));
  TRY(bind(*plan, parameters_->gradient_bytes()));
  return plan;
}

Result<void> Trainer::bind(Plan& plan, std::size_t offset) {
  TRY(make_room(plan, offset));
  return plan.bind(arena_.data() + offset, {});
}

Result<void> Trainer::make_room(const Plan& plan, std::size_t offset) {
  if (scratch_.size() < plan.scratch_bytes()) scratch_ = TRY(Memory::allocate(Bytes(plan.scratch_bytes())));
  const std::size_t needed =
      std::max(offset + static_cast<std::size_t>(plan.arena_bytes()), parameters_->gradient_bytes());
  if (arena_.size() >= needed) return {};
  arena_ = TRY(Memory::allocate(Bytes(needed)));
  parameters_->place_gradients(arena_.data());
  for (Plan* other : {first_.get(), others_.get()}) {
    if (other != nullptr) TRY(other->bind(arena_.data(), {}));
  }
  return {};
}

Result<void> Trainer::refresh() {
  const Operation& operation = *find_operation("layout.cast");
  for (const Parameter& parameter : parameters_->all()) {
    if (!is_present(parameter.rounded)) continue;
    const std::unique_ptr<Invocation> cast = operation.empty();
    TRY(cast->set_tensor(operation.field_index("x"), AnyView(parameters_->value_of(parameter))));
    TRY(cast->set_tensor(operation.field_index("y"), parameter.rounded));
    TRY(cast->check());
    Context context{*workers_, scratch_.bytes()};
    cast->run(table_->choose(operation, *cast), context);
  }
  return {};
}

Result<double> Trainer::run(Plan& plan, std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets,
                            double share) {
  const auto tokens = static_cast<std::size_t>(tokens_per_pass());
  if (inputs.size() != tokens || targets.size() != tokens) {
    return Error::of(ErrorCode::invalid_argument, "expected ", tokens, " inputs and targets, found ", inputs.size(),
                     " and ", targets.size());
  }
  const std::int64_t vocabulary = form_.facts().vocabulary;
  const auto is_token = [&](std::int32_t token) { return token >= 0 && token < vocabulary; };
  for (std::size_t index = 0; index < tokens; ++index) {
    if (!is_token(inputs[index]) || !(is_token(targets[index]) || targets[index] == ignored_target)) {
      return Error::of(ErrorCode::out_of_range, "expected tokens from 0 to ", vocabulary - 1, ", found ", inputs[index],
                       " and then ", targets[index]);
    }
  }
  const auto input = [&](std::string_view name) { return plan.tensor(name).data(); };
  std::memcpy(input(pass_inputs::tokens), inputs.data(), inputs.size_bytes());
  std::memcpy(input(loss_targets), targets.data(), targets.size_bytes());
  auto* positions = reinterpret_cast<std::int32_t*>(input(pass_inputs::positions));
  for (std::size_t index = 0; index < tokens; ++index) {
    positions[index] = static_cast<std::int32_t>(index % static_cast<std::size_t>(options_.length));
  }
  if (std::byte* derivative = input(loss_derivative)) {
    const auto value = static_cast<float>(share);
    std::memcpy(derivative, &value, sizeof(value));
  }
  Context context{*workers_, scratch_.bytes()};
  TRY(plan.run(context, observer_ ? &observer_ : nullptr));
  float loss;
  std::memcpy(&loss, input(loss_name), sizeof(loss));
  return loss;
}

Result<double> Trainer::differentiate(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets) {
  for (const std::string& name : added_to_) {
    const View<float> gradient = parameters_->gradient_of(*parameters_->find(name));
    std::memset(gradient.data(), 0, static_cast<std::size_t>(gradient.count()) * sizeof(float));
  }
  const auto tokens = static_cast<std::size_t>(tokens_per_pass());
  const auto passes = static_cast<std::size_t>(options_.accumulate);
  if (inputs.size() != tokens * passes || targets.size() != tokens * passes) {
    return Error::of(ErrorCode::invalid_argument, "expected ", tokens * passes, " inputs and targets, found ",
                     inputs.size(), " and ", targets.size());
  }
  double loss = 0;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    Plan& plan = pass == 0 ? *first_ : *others_;
    const double share = 1.0 / options_.accumulate;
    loss +=
        share * TRY(run(plan, inputs.subspan(pass * tokens, tokens), targets.subspan(pass * tokens, tokens), share));
  }
  parameters_->clear_gaps();
  return loss;
}

Result<Trainer::StepResult> Trainer::step(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets,
                                          std::int64_t number, double learning_rate) {
  StepResult result;
  result.loss = TRY(differentiate(inputs, targets));
  if (!std::isfinite(result.loss)) {
    return Error::of(ErrorCode::corrupt, "step ", number, ": expected a loss that is a number, found ",
                     std::to_string(result.loss), ": lower the learning rate or clip gradients");
  }
  result.gradient_norm = TRY(optimizer_->update(*parameters_, number, learning_rate, *workers_));
  TRY(refresh());
  return result;
}

Result<double> Trainer::evaluate(std::span<const std::int32_t> inputs, std::span<const std::int32_t> targets) {
  return run(*forward_, inputs, targets, 1);
}

std::size_t Trainer::peak_bytes() const {
  return parameters_->bytes() + optimizer_->bytes() + arena_.size() + scratch_.size();
}

}  // namespace ingot
