// OnnxCase: one folder of ONNX's backend node tests: a node, its inputs and the outputs it must have.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/outside/host_tensor.h"

namespace ingot::outside {

struct OnnxCase {
  std::string name;       // "test_relu"
  std::string operation;  // "Relu"
  std::string domain;     // empty: ONNX's own
  std::int64_t opset = 0;
  int nodes = 0;
  nlohmann::json attributes;
  std::vector<std::string> input_names;  // by position; empty: left out
  std::vector<std::string> output_names;
  std::map<std::string, HostTensor> tensors;

  // Null where it was left out.
  const HostTensor* input(std::size_t position) const { return find(input_names, position); }
  const HostTensor* output(std::size_t position) const { return find(output_names, position); }
  // Throws where it was left out: the case is not what its operator asks for, and the test says so.
  const HostTensor& required(std::size_t position) const { return present(input(position), "input", position); }
  const HostTensor& required_output(std::size_t position) const {
    return present(output(position), "output", position);
  }

  std::int64_t integer(const char* attribute, std::int64_t otherwise) const {
    return attributes.value(attribute, otherwise);
  }
  double number(const char* attribute, double otherwise) const { return attributes.value(attribute, otherwise); }
  std::string text(const char* attribute, const char* otherwise) const {
    return attributes.value(attribute, std::string(otherwise));
  }
  bool has(const char* attribute) const { return attributes.contains(attribute); }

 private:
  static const HostTensor& present(const HostTensor* tensor, const char* kind, std::size_t position) {
    if (tensor == nullptr) {
      throw std::out_of_range(std::string("expected ") + kind + " " + std::to_string(position) + ", found none");
    }
    return *tensor;
  }
  const HostTensor* find(const std::vector<std::string>& names, std::size_t position) const {
    if (position >= names.size()) return nullptr;
    const auto found = tensors.find(names[position]);
    return found == tensors.end() ? nullptr : &found->second;
  }
};

// Error code unsupported: a case that is in order, but holds what no operation takes (text, sequences).
Result<OnnxCase> read_onnx_case(const std::filesystem::path& folder);

}  // namespace ingot::outside
