// RandomAdapter: writes an adapter of random numbers for weights of a model, and the model with it merged, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/adapter.h"
#include "model/files/gguf_writer.h"

namespace ingot {

class RandomAdapter {
 public:
  // For the weights whose names end so; A and B of deviations that leave the model's words possible.
  RandomAdapter(const Model& model, std::vector<std::string> endings, std::int64_t rank, unsigned seed,
                double alpha = 6)
      : architecture_(model.facts().architecture), rank_(rank), alpha_(alpha) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 0.1f);
    const auto drawn = [&](const Shape& shape) {
      std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
      for (float& value : values) value = normal(random);
      return values;
    };
    for (const auto& [name, view] : model.weights().all()) {
      const bool is_wanted = std::ranges::any_of(endings, [&](const auto& ending) { return name.ends_with(ending); });
      if (is_wanted)
        matrices_[name] = {
            {rank, view.size(1)}, {view.size(0), rank}, drawn({rank, view.size(1)}), drawn({view.size(0), rank})};
    }
    EXPECT_FALSE(matrices_.empty());
    metadata.set_text("general.type", "adapter");
    metadata.set_text("general.architecture", architecture_);
    metadata.set_text("adapter.type", "lora");
    metadata.set_scalar("adapter.lora.alpha", static_cast<float>(alpha));
  }

  struct Matrices {
    Shape first_shape, second_shape;
    std::vector<float> first, second;
  };

  Result<void> write(const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& [name, pair] : matrices_) {
      names.push_back(name + ".lora_a");
      names.push_back(name + ".lora_b");
    }
    std::vector<TensorToWrite> tensors;
    for (const auto& [name, pair] : matrices_) {
      const std::size_t at = tensors.size();
      tensors.push_back(tensor_to_write(names[at], DType::f32, pair.first_shape, std::as_bytes(std::span(pair.first))));
      tensors.push_back(
          tensor_to_write(names[at + 1], DType::f32, pair.second_shape, std::as_bytes(std::span(pair.second))));
    }
    return write_gguf(path, metadata, tensors);
  }

  // W + scale alpha / rank B A, where the model has it.
  void add_to(std::map<std::string, std::vector<float>>& weights, double scale) const {
    for (const auto& [name, pair] : matrices_) {
      std::vector<float>& weight = weights.at(name);
      const std::int64_t columns = pair.first_shape[1];
      for (std::size_t at = 0; at < weight.size(); ++at) {
        const auto row = static_cast<std::int64_t>(at) / columns, column = static_cast<std::int64_t>(at) % columns;
        double sum = 0;
        for (std::int64_t index = 0; index < rank_; ++index) {
          sum += double{pair.second[static_cast<std::size_t>(row * rank_ + index)]} *
                 pair.first[static_cast<std::size_t>(index * columns + column)];
        }
        weight[at] = static_cast<float>(weight[at] + scale * alpha_ / static_cast<double>(rank_) * sum);
      }
    }
  }

  Metadata metadata;  // may be changed before it is written
  std::map<std::string, Matrices>& matrices() { return matrices_; }

 private:
  std::string architecture_;
  std::int64_t rank_;
  double alpha_;
  std::map<std::string, Matrices> matrices_;
};

// The model in f32 with adapters merged, each by its scale.
inline Result<void> write_merged(const Model& model,
                                 const std::vector<std::pair<const RandomAdapter*, double>>& adapters,
                                 const std::string& path) {
  std::map<std::string, std::vector<float>> weights;
  for (const auto& [name, view] : model.weights().all()) {
    weights[name].resize(static_cast<std::size_t>(view.count()));
    decode_all(view, weights[name].data());
  }
  for (const auto& [adapter, scale] : adapters) adapter->add_to(weights, scale);
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, values] : weights) {
    tensors.push_back(tensor_to_write(name, DType::f32, model.weights().find(name)->shape(),
                                      std::as_bytes(std::span<const float>(values))));
  }
  return write_gguf(path, model.metadata(), tensors);
}

}  // namespace ingot
