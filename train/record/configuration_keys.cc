#include "train/record/configuration_keys.h"

#include <limits>

#include "train/record/configuration_value.h"

namespace ingot {

namespace {

using Keys = TrainingConfiguration;

constexpr std::int64_t any_count = 1'000'000'000'000;

template <class Value>
constexpr ConfigurationKey row(std::string_view name, std::string_view group, std::string_view meaning) {
  return {name, group, meaning, Value::expected, Value::read, Value::write};
}

constexpr std::string_view shape_group = "the model", tuning_group = "fine-tuning", data_group = "data",
                           run_group = "the run", update_group = "updates", records_group = "records";

constexpr ConfigurationKey key_table[] = {
    row<TextValue<&Keys::architecture>>("architecture", shape_group, "how layers are built: llama, gpt2, ..."),
    row<IntegerValue<&Keys::vocabulary, 1, 1 << 24>>("vocabulary", shape_group, "how many tokens there are"),
    row<IntegerValue<&Keys::width, 1, 1 << 16>>("width", shape_group, "numbers that stand for a token between layers"),
    row<IntegerValue<&Keys::layers, 1, 1024>>("layers", shape_group, "how many layers"),
    row<IntegerValue<&Keys::heads, 1, 1024>>("heads", shape_group, "attention heads of a layer; they divide the width"),
    row<IntegerValue<&Keys::key_heads, 0, 1024>>("key_heads", shape_group,
                                                 "heads of keys and values; 0: as many as heads"),
    row<IntegerValue<&Keys::hidden, 0, 1 << 20>>("hidden", shape_group,
                                                 "width inside of the feed-forward part; 0: from the width"),
    row<IntegerValue<&Keys::context, 1, 1 << 20>>("context", shape_group, "the most tokens that see each other"),
    row<SwitchValue<&Keys::tie_embeddings>>("tie_embeddings", shape_group,
                                            "one table for tokens read and tokens predicted"),
    row<NumberValue<&Keys::deviation, NumberRange::positive>>("deviation", shape_group,
                                                              "how far from 0 weights begin, as a rule"),

    row<TextValue<&Keys::model>>("model", tuning_group,
                                 "a model file to begin with; its shape counts then, not this one"),
    row<IntegerValue<&Keys::lora_rank, 0, 1 << 16>>("lora_rank", tuning_group,
                                                    "train additions of this rank only; 0: train all weights"),
    row<NumberValue<&Keys::lora_alpha, NumberRange::positive>>("lora_alpha", tuning_group,
                                                               "additions count lora_alpha / lora_rank times"),
    row<ListValue<&Keys::lora_targets>>("lora_targets", tuning_group, "names of the weights that get an addition"),

    row<ListValue<&Keys::data>>("data", data_group, "files to learn from"),
    row<TextValue<&Keys::tokenizer>>("tokenizer", data_group, "a file with the tokenizer; none: made from the data"),
    row<ChoiceValue<&Keys::windows, window_kind_names>>(
        "windows", data_group, "where sequences begin: one behind the other, or with documents"),
    row<NumberValue<&Keys::validation_fraction, NumberRange::below_one>>(
        "validation_fraction", data_group, "the part of the data that is kept for validation"),

    row<IntegerValue<&Keys::batch, 1, 1 << 20>>("batch", run_group, "sequences at once"),
    row<IntegerValue<&Keys::accumulate, 1, 1 << 20>>("accumulate", run_group,
                                                     "batches whose gradients make one update"),
    row<IntegerValue<&Keys::length, 0, 1 << 20>>("length", run_group, "tokens of a sequence; 0: the context"),
    row<IntegerValue<&Keys::steps, 1, any_count>>("steps", run_group, "updates of the whole run"),
    row<IntegerValue<&Keys::seed, 0, std::numeric_limits<std::int64_t>::max()>>("seed", run_group,
                                                                                "what all chance is drawn from"),
    row<ChoiceValue<&Keys::storage, storage_kind_names>>("storage", run_group,
                                                         "how activations and gradients are kept"),
    row<ChoiceValue<&Keys::recompute, recompute_names>>("recompute", run_group,
                                                        "what is computed again instead of being kept"),
    row<IntegerValue<&Keys::threads, 0, 4096>>("threads", run_group, "threads to use; 0: one a core"),

    row<ChoiceValue<&Keys::optimizer, optimizer_kind_names>>("optimizer", update_group, "the rule of an update"),
    row<NumberValue<&Keys::learning_rate, NumberRange::positive>>("learning_rate", update_group,
                                                                  "the highest learning rate"),
    row<NumberValue<&Keys::least_learning_rate, NumberRange::not_negative>>("least_learning_rate", update_group,
                                                                            "what it falls to at the end"),
    row<IntegerValue<&Keys::warmup, 0, any_count>>("warmup", update_group, "updates until it is at its highest"),
    row<ChoiceValue<&Keys::schedule, schedule_kind_names>>("schedule", update_group, "how it falls after that"),
    row<NumberValue<&Keys::weight_decay, NumberRange::not_negative>>("weight_decay", update_group,
                                                                     "how strongly weights shrink"),
    row<NumberValue<&Keys::beta1, NumberRange::below_one>>("beta1", update_group,
                                                           "how slowly the mean of gradients moves (adam, lion)"),
    row<NumberValue<&Keys::beta2, NumberRange::below_one>>("beta2", update_group,
                                                           "how slowly the mean of their squares moves (adam); "
                                                           "how slowly the momentum moves (lion)"),
    row<NumberValue<&Keys::epsilon, NumberRange::positive>>("epsilon", update_group, "keeps adam's division from 0"),
    row<NumberValue<&Keys::momentum, NumberRange::below_one>>("momentum", update_group,
                                                              "how much of the last update goes on (sgd)"),
    row<NumberValue<&Keys::clip_norm, NumberRange::not_negative>>(
        "clip_norm", update_group, "the longest gradient, longer ones are shortened; 0: any"),

    row<TextValue<&Keys::checkpoint>>("checkpoint", records_group, "a file to keep the run in, and to take it up from"),
    row<IntegerValue<&Keys::checkpoint_every, 0, any_count>>("checkpoint_every", records_group,
                                                             "updates between checkpoints; 0: only at the end"),
    row<IntegerValue<&Keys::evaluate_every, 0, any_count>>("evaluate_every", records_group,
                                                           "updates between validations; 0: only at the end"),
    row<IntegerValue<&Keys::evaluation_batches, 1, any_count>>("evaluation_batches", records_group,
                                                               "batches of a validation"),
    row<TextValue<&Keys::log>>("log", records_group, "a file for one line of JSON an update"),
    row<TextValue<&Keys::plot>>("plot", records_group, "an HTML file for the curves"),
};

}  // namespace

std::span<const ConfigurationKey> configuration_keys() { return key_table; }

}  // namespace ingot
