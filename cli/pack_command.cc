#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/terminal.h"
#include "convert/packed_file.h"

namespace ingot::pack_command {
namespace {

constexpr const char* examples =
    "Matrices of type q4_0, q8_0, q5_0, q4_k and q6_k that products read are written in the order of the fastest\n"
    "instructions: as many bytes, the same numbers. `ingot run` maps such a file and uses it where it lies; with an\n"
    "ordinary file it packs at every start what is faster so on the machine (all that can be with --pack, nothing "
    "with\n"
    "--no-pack). Other programs cannot read a packed file.\n"
    "\n"
    "Examples:\n"
    "  ingot quantize model.gguf model-q4.gguf Q4_0\n"
    "  ingot pack model-q4.gguf model-packed.gguf\n"
    "  ingot pack --undo model-packed.gguf model-q4.gguf";

struct Options {
  std::string input;
  std::string output;
  bool undo = false;
  bool json = false;
};

Result<void> run(const Options& options) {
  std::optional<ProgressBar> bar;
  const auto show = [&](std::string_view name, int count) {
    if (!bar) bar.emplace(options.undo ? "unpacking" : "packing", count);
    bar->advance(name);
  };
  const PackedFileReport report = TRY(options.undo ? unpack_model_file(options.input, options.output, show)
                                                   : pack_model_file(options.input, options.output, show));
  bar.reset();
  if (options.json) {
    const nlohmann::json document = {{"input", options.input},
                                     {"output", options.output},
                                     {"tensors", report.tensors},
                                     {options.undo ? "unpacked" : "packed", report.moved}};
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    std::printf("wrote %s: %d of %d tensors %s\n", options.output.c_str(), report.moved, report.tensors,
                options.undo ? "unpacked" : "packed");
  }
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("pack", "write a model in the layout that decoding reads fastest");
  command.footer(examples);
  command.add_option("IN", options->input, "a GGUF file").required();
  command.add_option("OUT", options->output, "the GGUF file to write").required();
  command.add_flag("--undo", options->undo, "from a packed file the ordinary one");
  command.add_flag("--json", options->json, "print JSON");
  command.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot::pack_command
