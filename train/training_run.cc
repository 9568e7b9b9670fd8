#include "train/training_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "convert/quantizer.h"
#include "convert/tokenizer_keys.h"
#include "machine/machine.h"
#include "model/files/quoted.h"
#include "train/data/tokenizer_hash.h"
#include "train/fresh_model.h"
#include "train/record/resumption.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

Result<std::unique_ptr<TrainingRun>> TrainingRun::open(const TrainingConfiguration& configuration,
                                                       TrainingEvents events) {
  std::unique_ptr<TrainingRun> run(new TrainingRun(TRY(completed(configuration)), std::move(events)));
  TRY(run->start());
  return run;
}

Result<void> TrainingRun::start() {
  if (!configuration_.model.empty()) model_ = TRY(Model::open(configuration_.model));
  const Tokenizer* own = nullptr;
  if (model_ != nullptr && configuration_.tokenizer.empty()) own = TRY(model_->tokenizer());
  data_ = std::make_unique<TrainingData>(TRY(prepare_training_data(configuration_, own, events_.preparing)));
  TRY(make_weights());
  TRY(start_trainer());
  progress_.schedule = schedule_of(configuration_);
  progress_.tokenizer_hash = tokenizer_hash(data_->tokenizer.description());
  progress_.data_hash = data_->set.hash();
  progress_.configuration = text_of(configuration_);
  if (!configuration_.checkpoint.empty() && std::filesystem::exists(configuration_.checkpoint)) TRY(resume());
  if (!configuration_.log.empty()) {
    log_ = std::make_unique<RunLog>(TRY(RunLog::open(configuration_.log, progress_.step)));
  }
  inputs_.resize(static_cast<std::size_t>(trainer_->tokens_per_step()));
  targets_.resize(inputs_.size());
  return {};
}

Result<void> TrainingRun::make_weights() {
  const std::int64_t tokens = data_->tokenizer.vocabulary_size();
  const std::int64_t vocabulary = model_ ? model_->facts().vocabulary : configuration_.vocabulary;
  if (tokens > vocabulary) {
    return Error::of(ErrorCode::invalid_argument, "tokenizer: expected at most the model's ", vocabulary,
                     " tokens, found ", tokens);
  }
  if (!model_) {
    configuration_.vocabulary = tokens;  // rows that no token has would never learn anything
    fresh_ = TRY(make_fresh_model(configuration_));
    fresh_form_ = TRY(create_template(fresh_));
    return {};
  }
  if (configuration_.lora_rank == 0) return {};
  adapter_options_ = {.rank = configuration_.lora_rank,
                      .alpha = configuration_.lora_alpha,
                      .targets = configuration_.lora_targets,
                      .seed = static_cast<std::uint64_t>(configuration_.seed)};
  adapted_ = TRY(add_adapters(model_->weights(), adapter_options_));
  return {};
}

Result<void> TrainingRun::start_trainer() {
  TrainerOptions options;
  options.batch = configuration_.batch;
  options.length = configuration_.length;
  options.accumulate = static_cast<int>(configuration_.accumulate);
  options.recompute = configuration_.recompute;
  options.storage = configuration_.storage == StorageKind::bf16 ? DType::bf16 : DType::f32;
  options.threads =
      configuration_.threads > 0 ? static_cast<int>(configuration_.threads) : Machine::detect().usable_cpus;
  options.optimizer = {.kind = configuration_.optimizer,
                       .beta1 = configuration_.beta1,
                       .beta2 = configuration_.beta2,
                       .epsilon = configuration_.epsilon,
                       .momentum = configuration_.momentum,
                       .weight_decay = configuration_.weight_decay,
                       .clip_norm = configuration_.clip_norm};
  const Template& form = model_ ? model_->form() : *fresh_form_;
  if (configuration_.lora_rank == 0) {
    trainer_ = TRY(Trainer::create(form, model_ ? model_->weights() : fresh_.weights, options));
    return {};
  }
  options.trained = adapted_.adapters;
  trainer_ = TRY(Trainer::create(form, adapted_.weights, options, [this](Circuit& circuit, const Weights& weights) {
    return add_adapters_to(circuit, weights, adapter_options_);
  }));
  return {};
}

std::vector<CheckpointTarget> TrainingRun::state_views() const {
  const Parameters& parameters = trainer_->parameters();
  std::vector<CheckpointTarget> views;
  for (const Parameter& parameter : parameters.all()) {
    views.push_back({std::string(weight_group) + parameter.name, AnyView(parameters.value_of(parameter))});
    std::string_view group = first_moment_group;
    for (const OptimizerMemory& memory : trainer_->optimizer().memories()) {
      auto* values = reinterpret_cast<float*>(memory.memory.data()) + parameter.offset;
      views.push_back({std::string(group) + parameter.name, AnyView(View<float>(values, parameter.shape))});
      group = second_moment_group;
    }
  }
  return views;
}

Result<void> TrainingRun::resume() {
  const StoredCheckpoint stored = TRY(read_checkpoint(configuration_.checkpoint));
  const auto refuse = [&](const Error& error) { return error.within(Quoted{configuration_.checkpoint}); };
  const Result<void> same = require_same_run(stored.numbers().configuration, configuration_);
  if (!same.ok()) return refuse(same.error());
  if (stored.numbers().tokenizer_hash != progress_.tokenizer_hash) {
    return refuse(Error::of(ErrorCode::invalid_argument,
                            "expected a checkpoint of a run with this tokenizer, found one with another"));
  }
  if (stored.numbers().data_hash != progress_.data_hash) {
    return refuse(Error::of(ErrorCode::invalid_argument,
                            "data: expected what the run began with, found other tokens: bring the old data, or begin "
                            "another run with another checkpoint"));
  }
  const Result<void> copied = stored.copy_into(state_views());
  if (!copied.ok()) return refuse(copied.error());
  const LearningRateSchedule schedule = progress_.schedule;
  const std::string text = progress_.configuration;
  progress_ = stored.numbers();
  progress_.schedule = schedule;
  progress_.configuration = text;
  is_resumed_ = true;
  TRY(data_->set.seek({static_cast<std::uint64_t>(progress_.epoch), static_cast<std::uint64_t>(progress_.index)}));
  return trainer_->refresh();
}

Result<RunStep> TrainingRun::step() {
  const Clock::time_point begin = Clock::now();
  const std::int64_t passes = configuration_.batch * configuration_.accumulate;
  TRY(data_->set.fill(passes, inputs_, targets_));
  RunStep step;
  step.learning_rate = learning_rate_at(progress_.schedule, progress_.step);
  const Trainer::StepResult result = TRY(trainer_->step(inputs_, targets_, progress_.step + 1, step.learning_rate));
  const DataPosition position = data_->set.position();
  progress_.epoch = static_cast<std::int64_t>(position.epoch);
  progress_.index = static_cast<std::int64_t>(position.index);
  progress_.learning_rate = step.learning_rate;
  progress_.tokens += trainer_->tokens_per_step();
  ++progress_.step;
  step.step = progress_.step;
  step.loss = result.loss;
  step.gradient_norm = result.gradient_norm;
  step.tokens = progress_.tokens;
  step.tokens_per_second = static_cast<double>(trainer_->tokens_per_step()) / seconds_since(begin);
  return step;
}

Result<double> TrainingRun::validate() {
  const auto per_pass = static_cast<std::size_t>(trainer_->tokens_per_pass());
  const std::span inputs(inputs_.data(), per_pass);
  const std::span targets(targets_.data(), per_pass);
  const auto batch = static_cast<std::uint64_t>(configuration_.batch);
  const std::uint64_t windows = data_->set.validation_windows();
  double sum = 0;
  std::int64_t count = 0;
  for (std::uint64_t first = 0; count < configuration_.evaluation_batches && first + batch <= windows; first += batch) {
    TRY(data_->set.fill_validation(first, configuration_.batch, inputs, targets));
    sum += TRY(trainer_->evaluate(inputs, targets));
    ++count;
  }
  if (count == 0) {
    return Error::of(ErrorCode::invalid_argument, "validation: expected at least a batch of ", batch,
                     " windows that are kept for it, found ", windows,
                     ": give more data, a larger validation_fraction, or evaluate_every = 0");
  }
  return sum / static_cast<double>(count);
}

Result<void> TrainingRun::draw(const RunStep& step, RunState state) {
  if (configuration_.plot.empty()) return {};
  const bool is_due = state != RunState::live || step.validation_loss || step.step % 20 == 0;
  if (!is_due) return {};
  const std::string title =
      configuration_.architecture + ", " + std::to_string(trainer_->parameters().count()) + " parameters";
  return write_loss_plot(configuration_.plot, {title, configuration_.steps, state},
                         log_ ? log_->steps() : std::span<const RunStep>(steps_));
}

Result<void> TrainingRun::save() {
  if (configuration_.checkpoint.empty()) return {};
  std::vector<CheckpointSource> sources;
  for (const CheckpointTarget& target : state_views()) sources.push_back({target.name, target.view});
  return write_checkpoint(configuration_.checkpoint, progress_, sources);
}

Result<RunState> TrainingRun::run() {
  while (progress_.step < configuration_.steps) {
    RunStep last = TRY(step());
    const bool is_end = progress_.step == configuration_.steps;
    const bool evaluates = configuration_.evaluate_every > 0 && data_->set.validation_windows() > 0;
    if (evaluates && (is_end || progress_.step % configuration_.evaluate_every == 0)) {
      last.validation_loss = TRY(validate());
      progress_.best_validation_loss =
          std::min(progress_.best_validation_loss.value_or(*last.validation_loss), *last.validation_loss);
    }
    if (events_.stepped) events_.stepped(last);
    // Before the checkpoint: a run that is taken up again cuts lines that are too many, and cannot write ones that
    // miss.
    if (log_) {
      TRY(log_->append(last));
    } else if (!configuration_.plot.empty()) {
      steps_.push_back(last);
    }
    const bool stops = events_.should_stop && events_.should_stop();
    if (is_end || stops ||
        (configuration_.checkpoint_every > 0 && progress_.step % configuration_.checkpoint_every == 0)) {
      TRY(save());
    }
    TRY(draw(last, is_end ? RunState::finished : stops ? RunState::stopped : RunState::live));
    if (stops && !is_end) return RunState::stopped;
  }
  return RunState::finished;
}

Result<std::vector<std::string>> TrainingRun::export_gguf(const std::string& path, const TypeMix& mix) const {
  Metadata metadata = model_ ? model_->metadata() : fresh_.metadata;
  Weights merged;
  const Parameters& parameters = trainer_->parameters();
  for (const auto& [name, view] : (model_ ? model_->weights() : fresh_.weights).all()) {
    if (const Parameter* parameter = parameters.find(name)) {
      TRY(merged.add(name, AnyView(parameters.value_of(*parameter))));
    } else if (has_adapter(parameters.weights(), name)) {
      const AnyView target = TRY(merged.add_owned(name, DType::f32, view.shape()));
      merge_adapter(parameters.weights(), name, adapter_options_,
                    {reinterpret_cast<float*>(target.data()), static_cast<std::size_t>(target.count())});
    } else {
      TRY(merged.add(name, view));
    }
  }
  std::vector<std::string> notes;
  if (!metadata.has("tokenizer.ggml.model")) {
    const std::int64_t vocabulary = model_ ? model_->facts().vocabulary : configuration_.vocabulary;
    add_tokenizer_keys(data_->tokenizer, vocabulary, metadata, notes);
    if (!metadata.has("tokenizer.ggml.model")) {
      return Error::of(ErrorCode::unsupported, "expected a tokenizer that GGUF can hold, found one that it cannot: ",
                       notes.empty() ? "" : notes[0]);
    }
  }
  if (!metadata.has("general.name")) {
    metadata.set_text("general.name", std::filesystem::path(path).stem().string());
  }
  const Quantizer quantizer = TRY(Quantizer::of(metadata, merged, {.mix = &mix}));
  notes.insert(notes.end(), quantizer.notes().begin(), quantizer.notes().end());
  TRY(quantizer.write(path, {.threads = trainer_->options().threads}));
  return notes;
}

}  // namespace ingot
