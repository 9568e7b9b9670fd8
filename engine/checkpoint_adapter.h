// CheckpointAdapter: an adapter of peft's for every matrix of a golden checkpoint that products read, and the
// checkpoint with it merged, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>

#include "engine/golden_model.h"
#include "model/files/test_files.h"
#include "model/files/write_safetensors.h"

namespace ingot {

class CheckpointAdapter {
 public:
  static constexpr std::int64_t rank = 2;

  explicit CheckpointAdapter(const std::string& name) : base_(ModelFile::open(golden_folder(name)).value()) {
    for (const StoredTensor& tensor : base_.tensors()) add(tensor);
    std::filesystem::create_directory(folder.file("merged"));
    std::filesystem::copy(golden_folder(name) / "config.json", folder.file("merged"));
    std::filesystem::create_directory(folder.file("adapter"));
    folder.write("adapter/adapter_config.json", R"({"peft_type":"LORA","r":2,"lora_alpha":3})");
    const Metadata none;
    EXPECT_TRUE(write_safetensors(folder.file("merged/model.safetensors"), none, merged_).ok());
    EXPECT_TRUE(write_safetensors(folder.file("adapter/adapter_model.safetensors"), none, narrow_).ok());
  }

  TemporaryFolder folder;
  int matrices = 0;

 private:
  // Tables, which are looked up in, and matrices that are several in one, or part of one, here.
  static bool is_left_out(std::string_view name) {
    return std::ranges::any_of(std::array{"embed", "wte.", "wpe.", ".experts", "visual.", "kv_b_proj",
                                          "altup_projections", "altup_unembed", "pooler"},
                               [&](std::string_view part) { return name.find(part) != name.npos; });
  }

  std::span<const float> drawn(std::int64_t count, float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float>& values = kept_.emplace_back(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(random_);
    return values;
  }

  void add_narrow(std::string_view module, std::string_view which, const Shape& shape, std::span<const float> values) {
    const std::string& name = names_.emplace_back("base_model.model." + std::string(module) + std::string(which));
    narrow_.push_back(tensor_to_write(name, DType::f32, shape, std::as_bytes(values)));
  }

  void add(const StoredTensor& tensor) {
    constexpr std::string_view ending = ".weight";
    merged_.push_back(tensor_to_write(tensor));
    if (tensor.view.rank() != 2 || !tensor.name.ends_with(ending) || is_left_out(tensor.name)) return;
    const bool is_transposed = tensor.name.find(".c_") != std::string_view::npos;  // gpt2's
    const std::int64_t outputs = tensor.view.size(is_transposed ? 1 : 0);
    const std::int64_t inputs = tensor.view.size(is_transposed ? 0 : 1);
    const std::span<const float> first = drawn(rank * inputs, 0.1f), second = drawn(outputs * rank, 0.1f);
    std::vector<float>& sum = kept_.emplace_back(static_cast<std::size_t>(tensor.view.count()));
    decode_all(tensor.view, sum.data());
    for (std::int64_t output = 0; output < outputs; ++output) {
      for (std::int64_t input = 0; input < inputs; ++input) {
        double added = 0;
        for (std::int64_t index = 0; index < rank; ++index) {
          added += double{second[static_cast<std::size_t>(output * rank + index)]} *
                   first[static_cast<std::size_t>(index * inputs + input)];
        }
        float& value =
            sum[static_cast<std::size_t>(is_transposed ? input * outputs + output : output * inputs + input)];
        value = static_cast<float>(value + 1.5 * added);
      }
    }
    merged_.back() =
        tensor_to_write(tensor.name, DType::f32, tensor.view.shape(), std::as_bytes(std::span<const float>(sum)));
    const std::string_view module = std::string_view(tensor.name).substr(0, tensor.name.size() - ending.size());
    add_narrow(module, ".lora_A.weight", {rank, inputs}, first);
    add_narrow(module, ".lora_B.weight", {outputs, rank}, second);
    ++matrices;
  }

  ModelFile base_;
  std::mt19937 random_{7};
  std::deque<std::vector<float>> kept_;
  std::deque<std::string> names_;
  std::vector<TensorToWrite> merged_, narrow_;
};

}  // namespace ingot
