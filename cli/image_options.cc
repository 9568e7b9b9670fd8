#include "cli/image_options.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>

#include "base/image/machine_limits.h"
#include "cli/terminal.h"
#include "image/build_products.h"
#include "image/cast_checks.h"
#include "image/program.h"
#include "model/files/gguf_pieces.h"

namespace ingot {

Check as_cpus() {
  return accepted_by("1 to " + std::to_string(most_machine_cpus), [](const std::string& text) -> Result<void> {
    std::uint64_t cpus = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, cpus);
    if (read.ec == std::errc() && read.ptr == end) return image::check_cpus(cpus);
    return Error::of(ErrorCode::invalid_argument, "expected 1 to ", most_machine_cpus, " processors, found '",
                     std::string_view(text), "'");
  });
}

Option add_product_options(const Command& command, ProductOptions& options) {
  command
      .add_option("--kernel", options.kernel,
                  "Ingot's kernel, or a folder of kernels to choose from; else those beside this program")
      .check(as_file());
  return command.add_option("--engine", options.engine, "the engine for x86_64; else the one beside this program")
      .check(as_file());
}

Result<std::vector<std::string>> kernels_of(const ProductOptions& options) {
  if (!options.kernel.empty()) return image::kernels_at(options.kernel);
  const std::string program = TRY(image::running_program());
  return image::find_kernels(program);
}

Result<void> add_model(const std::string& model, const std::string& place, image::FileTree& root) {
  if (std::filesystem::is_directory(model)) {
    return Error::of(ErrorCode::unsupported, "expected a .gguf file, found the folder '", std::string_view(model),
                     "': name a .gguf in it, or make one of its safetensors first: ingot quantize '",
                     std::string_view(model), "' model.gguf BF16");
  }
  const std::size_t pieces = TRY(open_gguf_pieces(model)).size();
  const auto add = [&root](const std::string& path, const std::string& at) -> Result<void> {
    image::Content weights = TRY(image::Content::of_file(path));
    return root.put_new_file(at, 0644, std::move(weights), "the model");
  };
  if (pieces == 1) return add(model, place);
  const GgufPieceName name = *gguf_piece_name(model);  // open_gguf_pieces() saw to it
  for (std::uint32_t piece = 1; piece <= pieces; ++piece) {
    const std::string path = name.path_of(piece);
    TRY(add(path, place + '/' + std::filesystem::path(path).filename().string()));
  }
  return {};
}

// What a model at that place takes when it is loaded: at most 1.03 times its bytes.
static std::uint64_t repacked_bytes(const image::FileTree& root, const std::string& place) {
  std::uint64_t bytes = 0;
  for (const auto& [path, node] : root.nodes()) {
    if (path == place || path.starts_with(place + '/')) bytes += node.content.size();
  }
  return bytes + bytes / 32;
}

Result<void> add_engine(const ProductOptions& products, const std::string& model, image::CastRequest& request) {
  if (!model.empty()) TRY(add_model(model, model_path, request.root));
  std::string engine = products.engine;
  if (engine.empty()) {
    const std::string program = TRY(image::running_program());
    engine = TRY(image::find_engine(program));
  }
  TRY(image::add_program({engine, "/bin/ingot", ""}, request.root));
  request.program = "/bin/ingot";
  request.arguments = {"ingot"};
  if (request.default_arguments.empty()) request.default_arguments = {"run"};
  constexpr std::uint64_t beside_the_weights = 64 << 20;  // code's data, the cache of a short text, scratch memory
  request.anonymous = beside_the_weights;
  if (model.empty()) return {};
  request.anonymous += repacked_bytes(request.root, model_path);
  if (request.default_arguments.front() == "run" && request.default_arguments.size() == 1) {
    request.default_arguments.push_back(model_path);
  }
  return {};
}

Result<void> add_server(const ProductOptions& products, const ServedModels& served,
                        const std::vector<std::string>& arguments, image::CastRequest& request) {
  request.default_arguments = TRY(add_served_models(served, request.root));
  request.default_arguments.insert(request.default_arguments.end(), arguments.begin(), arguments.end());
  TRY(add_engine(products, "", request));
  for (const std::string& model : served.models) {
    request.anonymous += repacked_bytes(request.root, place_of_model(model, served.models.size()));
  }
  // Of the machine's memory serve takes a quarter for its cache, unless it is told otherwise: what is left holds the
  // rest.
  std::uint64_t rest = request.anonymous;
  for (const auto& [path, node] : request.root.nodes()) rest += node.content.size();
  request.anonymous += rest / 3;
  request.rights.emplace_back("network");
  return {};
}

std::vector<std::string> with_variables(std::vector<std::string> environment, const std::vector<std::string>& given) {
  for (const std::string& variable : given) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(environment, [&](const std::string& each) { return each.starts_with(name); });
    environment.push_back(variable);
  }
  return environment;
}

std::function<void(std::uint64_t, std::uint64_t)> cast_progress() {
  using Clock = std::chrono::steady_clock;
  static constexpr int steps = 100;
  struct State {
    Clock::time_point begin = Clock::now();
    std::unique_ptr<ProgressBar> bar;
    int shown = 0;
  };
  auto state = std::make_shared<State>();
  return [state](std::uint64_t done, std::uint64_t total) {
    if (Clock::now() - state->begin < std::chrono::seconds(1)) return;
    if (!state->bar) state->bar = std::make_unique<ProgressBar>("casting", steps);
    const int reached =
        total == 0 ? steps : static_cast<int>(steps * static_cast<double>(done) / static_cast<double>(total));
    for (; state->shown < reached; ++state->shown) state->bar->advance(std::to_string(done >> 20) + " MiB");
  };
}

}  // namespace ingot
