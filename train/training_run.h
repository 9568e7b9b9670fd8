// TrainingRun: from a configuration to a trained model. It reads data, takes steps, writes them down, and can be
// stopped at any moment: what was learnt up to the last checkpoint is taken up again, bit for bit.
#pragma once

#include "convert/type_mix.h"
#include "engine/model.h"
#include "train/adapters.h"
#include "train/record/checkpoint.h"
#include "train/record/loss_plot.h"
#include "train/record/run_log.h"
#include "train/trainer.h"
#include "train/training_data.h"

namespace ingot {

struct TrainingEvents {
  PreparationProgress preparing = {};
  std::function<void(const RunStep& step)> stepped = {};
  std::function<bool()> should_stop = {};  // asked after every step
};

class TrainingRun {
 public:
  // Takes up the configuration's checkpoint where there is one.
  static Result<std::unique_ptr<TrainingRun>> open(const TrainingConfiguration& configuration,
                                                   TrainingEvents events = {});

  // Up to the last step, or until it is told to stop; then a checkpoint is written. Returns finished or stopped.
  Result<RunState> run();

  const TrainingConfiguration& configuration() const { return configuration_; }
  const Trainer& trainer() const { return *trainer_; }
  const TrainingData& data() const { return *data_; }
  std::int64_t steps_done() const { return progress_.step; }
  bool is_resumed() const { return is_resumed_; }

  // The model as it is now, adapters merged, as a GGUF file. Returns what the user should know of it.
  Result<std::vector<std::string>> export_gguf(const std::string& path, const TypeMix& mix) const;

 private:
  TrainingRun(TrainingConfiguration configuration, TrainingEvents events)
      : configuration_(std::move(configuration)), events_(std::move(events)) {}
  Result<void> start();
  Result<void> make_weights();
  Result<void> start_trainer();
  Result<void> resume();
  Result<RunStep> step();
  Result<double> validate();
  Result<void> draw(const RunStep& step, RunState state);
  Result<void> save();
  // Everything that a checkpoint holds, as it lies in memory.
  std::vector<CheckpointTarget> state_views() const;

  TrainingConfiguration configuration_;
  TrainingEvents events_;
  std::shared_ptr<const Model> model_;  // what is fine-tuned; null: a fresh one
  ModelSource fresh_;
  std::unique_ptr<Template> fresh_form_;
  AdapterOptions adapter_options_;
  AdaptedWeights adapted_;
  std::unique_ptr<TrainingData> data_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<RunLog> log_;
  std::vector<RunStep> steps_;  // since this run was opened, where no log keeps them
  Checkpoint progress_;
  bool is_resumed_ = false;
  std::vector<std::int32_t> inputs_, targets_;
};

}  // namespace ingot
