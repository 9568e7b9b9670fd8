#include "cli/adapter_options.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/files/quoted.h"

namespace ingot {
namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// All of the text as a number; nothing where it is none.
std::optional<float> number_of(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string::npos) return {};
  char* end = nullptr;
  const float number = std::strtof(text.c_str(), &end);
  if (end != text.c_str() + text.size()) return {};
  return number;
}

}  // namespace

Result<AdapterOption> read_adapter_option(const std::string& text) {
  AdapterOption option = {.name = {}, .path = text};
  const auto is_settled = [&] { return exists(option.path); };
  const auto cut_name = [&] {
    const std::size_t equals = option.path.find('=');
    if (is_settled() || equals == std::string::npos || option.path.find('/') < equals) return;
    option.name = option.path.substr(0, equals);
    option.path.erase(0, equals + 1);
  };
  cut_name();
  const std::size_t colon = option.path.rfind(':');
  if (!is_settled() && colon != std::string::npos) {
    if (const std::optional<float> scale = number_of(option.path.substr(colon + 1))) {
      option.scale = *scale;
      option.path.resize(colon);
    }
  }
  if (option.path.empty()) {
    return Error::of(ErrorCode::invalid_argument, "--adapter: expected FILE or FILE:SCALE, found ", Quoted{text});
  }
  TRY(checked_scales(std::span(&option.scale, 1), 1));
  return option;
}

Option add_adapter_option(const Command& command, std::vector<std::string>& texts) {
  return command
      .add_option(
          "--adapter", texts,
          "a LoRA adapter of the model, a .gguf file or a folder of peft's; FILE:SCALE, such as style.gguf:0.5, "
          "for a part of it; may be repeated")
      .check(accepted_by("FILE[:SCALE]",
                         [](const std::string& text) -> Result<void> {
                           TRY(read_adapter_option(text));
                           return {};
                         }))
      .take_all()
      .one_word_each_time();
}

Result<OpenedAdapters> open_adapters(const std::vector<std::string>& texts, const Model& model) {
  OpenedAdapters opened;
  for (const std::string& text : texts) {
    AdapterOption option = TRY(read_adapter_option(text));
    opened.adapters.push_back(TRY(Adapter::open(option.path, model)));
    if (option.name.empty()) {
      std::filesystem::path path(option.path);
      if (!path.has_filename()) path = path.parent_path();
      option.name = (path.extension() == ".gguf" ? path.stem() : path.filename()).string();
    }
    opened.names.push_back(std::move(option.name));
    opened.scales.push_back(option.scale);
  }
  return opened;
}

nlohmann::json described_adapters(const SessionOptions& options) {
  nlohmann::json described = nlohmann::json::array();
  for (std::size_t index = 0; index < options.adapters.size(); ++index) {
    const Adapter& adapter = *options.adapters[index];
    described.push_back({{"path", adapter.path()},
                         {"scale", index < options.adapter_scales.size() ? options.adapter_scales[index] : 0.0F},
                         {"rank", adapter.largest_rank()},
                         {"weights", adapter.weights()},
                         {"bytes", adapter.bytes()}});
  }
  return described;
}

}  // namespace ingot
