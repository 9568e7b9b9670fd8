// A checkpoint: everything a run needs to go on as if it had never stopped, in one safetensors file that other programs
// can open too. Numbers stand in its metadata as text, tensors under the group they belong to:
//
//   weight/<name>    the weights
//   moment1/<name>   the optimizer's first state of that weight (a mean of gradients, a momentum)
//   moment2/<name>   its second (a mean of their squares)
//
// The metadata holds a checksum of every tensor, with its type and shape, and one of itself: a damaged checkpoint is
// refused when it is opened. Writing replaces the old file only when the new one is whole.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/files/safetensors.h"
#include "train/record/schedule.h"

namespace ingot {

inline constexpr std::string_view weight_group = "weight/";
inline constexpr std::string_view first_moment_group = "moment1/";
inline constexpr std::string_view second_moment_group = "moment2/";

struct Checkpoint {
  std::int64_t step = 0;    // updates done
  std::int64_t tokens = 0;  // tokens learnt from
  std::int64_t epoch = 0;   // the next batch: which pass over the data,
  std::int64_t index = 0;   // and where in it
  LearningRateSchedule schedule;
  double learning_rate = 0;                            // of the last update
  std::optional<double> best_validation_loss;          // none before the first validation
  std::uint64_t tokenizer_hash = 0;                    // weights mean nothing under another tokenizer
  std::uint64_t data_hash = 0;                         // a position means nothing in other data
  std::map<std::string, std::uint64_t> random_states;  // RandomNumbers::state() by who draws from it
  std::string configuration;                           // text_of(TrainingConfiguration)

  bool operator==(const Checkpoint&) const = default;
};

struct CheckpointSource {
  std::string name;  // with its group
  ConstAnyView view;
};

struct CheckpointTarget {
  std::string name;
  AnyView view;
};

// Every view must be packed and on the host; its bytes go from there to the file. Numbers must be finite.
Result<void> write_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                              std::span<const CheckpointSource> tensors);

// An open checkpoint, its checksums verified.
class StoredCheckpoint {
 public:
  const Checkpoint& numbers() const { return numbers_; }
  std::span<const TensorRecord> tensors() const { return file_.records(); }
  const TensorRecord* find(std::string_view name) const;

  // Fills every target with the tensor of its name. Fails before the first byte is copied where a target has no tensor,
  // a tensor of `group` (all of them, when empty) has no target, or types or shapes differ.
  Result<void> copy_into(std::span<const CheckpointTarget> targets, std::string_view group = {}) const;

 private:
  friend Result<StoredCheckpoint> read_checkpoint(const std::string& path);
  explicit StoredCheckpoint(SafetensorsFile file);

  SafetensorsFile file_;
  std::map<std::string_view, std::size_t> positions_;
  Checkpoint numbers_;
};

Result<StoredCheckpoint> read_checkpoint(const std::string& path);

}  // namespace ingot
