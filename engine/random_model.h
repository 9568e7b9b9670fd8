// RandomModel: writes a llama of random numbers whose rows divide into all blocks, for tests.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "model/files/gguf_writer.h"

namespace ingot {

class RandomModel {
 public:
  explicit RandomModel(const std::string& path, float outlier = 0) {
    metadata_.set_text("general.architecture", "llama");
    for (const auto& [key, value] : {std::pair("block_count", 2u),
                                     {"context_length", 64u},
                                     {"embedding_length", 256u},
                                     {"feed_forward_length", 512u},
                                     {"attention.head_count", 8u},
                                     {"attention.head_count_kv", 2u}}) {
      metadata_.set_scalar(std::string("llama.") + key, value);
    }
    metadata_.set_scalar("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    add("token_embd.weight", {64, 256});
    add("output.weight", {64, 256});
    add("output_norm.weight", {256});
    for (const std::string layer : {"blk.0.", "blk.1."}) {
      add(layer + "attn_norm.weight", {256});
      add(layer + "ffn_norm.weight", {256});
      add(layer + "attn_q.weight", {256, 256});
      add(layer + "attn_k.weight", {64, 256});
      add(layer + "attn_v.weight", {64, 256});
      add(layer + "attn_output.weight", {256, 256});
      add(layer + "ffn_gate.weight", {512, 256});
      add(layer + "ffn_up.weight", {512, 256});
      add(layer + "ffn_down.weight", {256, 512});
    }
    if (outlier != 0) values_[0][0] = outlier;
    std::vector<TensorToWrite> tensors;
    for (std::size_t index = 0; index < names_.size(); ++index) {
      tensors.push_back(tensor_to_write(names_[index], DType::f32, shapes_[index],
                                        std::as_bytes(std::span<const float>(values_[index]))));
    }
    const Result<void> written = write_gguf(path, metadata_, tensors);
    EXPECT_TRUE(written.ok()) << written.error().text();
  }

 private:
  void add(const std::string& name, const Shape& shape) {
    std::normal_distribution<float> normal(0, 0.05f);
    names_.push_back(name);
    shapes_.push_back(shape);
    values_.emplace_back(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values_.back()) value = shape.rank() == 1 ? 1 : normal(random_);
  }

  Metadata metadata_;
  std::vector<std::string> names_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<float>> values_;
  std::mt19937 random_{7};
};

}  // namespace ingot
