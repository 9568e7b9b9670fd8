#include "tests/outside/onnx_case.h"

#include <fstream>

namespace ingot::outside {
namespace {

Error wrong_case(const std::filesystem::path& folder, std::string_view what) {
  return Error::of(ErrorCode::corrupt, folder.filename().native(), ": expected ", what, ", found something else");
}

Result<void> read_tensors(const std::filesystem::path& folder, const nlohmann::json& list, OnnxCase& result) {
  if (!list.is_array()) return wrong_case(folder, "a list of tensors");
  for (const auto& entry : list) {
    if (!entry.is_object() || !entry.contains("name") || !entry.contains("file") || !entry.contains("dtype") ||
        !entry.contains("shape")) {
      return Error::of(ErrorCode::unsupported, "a value that is no plain tensor");
    }
    const std::string file = entry["file"];
    if (file.find('/') != std::string::npos) return wrong_case(folder, "a tensor's file in the case's own folder");
    const NpyArray array = TRY(read_npy(folder / file));
    result.tensors[entry["name"]] = TRY(to_host_tensor(array, entry["dtype"], entry["shape"]));
  }
  return {};
}

}  // namespace

Result<OnnxCase> read_onnx_case(const std::filesystem::path& folder) {
  std::ifstream file(folder / "case.json");
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array() || json["nodes"].empty()) {
    return wrong_case(folder, "a case.json with nodes");
  }
  const nlohmann::json& node = json["nodes"][0];
  if (!node.is_object() || !node.contains("op") || !node.contains("inputs") || !node.contains("outputs")) {
    return wrong_case(folder, "a node with op, inputs and outputs");
  }
  OnnxCase result;
  result.name = json.value("case", folder.filename().string());
  result.operation = node["op"];
  result.domain = node.value("domain", "");
  result.nodes = static_cast<int>(json["nodes"].size());
  result.attributes = node.value("attrs", nlohmann::json::object());
  result.input_names = node["inputs"];
  result.output_names = node["outputs"];
  if (json.contains("opset") && json["opset"].contains(result.domain)) result.opset = json["opset"][result.domain];
  TRY(read_tensors(folder, json.value("inputs", nlohmann::json::array()), result));
  TRY(read_tensors(folder, json.value("outputs", nlohmann::json::array()), result));
  return result;
}

}  // namespace ingot::outside
