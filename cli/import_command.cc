#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "convert/import.h"

namespace ingot::import_command {
namespace {

constexpr const char* examples =
    "A checkpoint of llama2.c is two files: the weights behind a header of seven numbers, and the vocabulary.\n"
    "\n"
    "Examples:\n"
    "  ingot import llama2c stories15M.bin tokenizer.bin stories.gguf\n"
    "  ingot import llama2c stories15M.bin tokenizer.bin stories.gguf --json\n"
    "  ingot run stories.gguf";

struct Options {
  std::string model;
  std::string vocabulary;
  std::string output;
  bool json = false;
};

Result<void> run(const Options& options) {
  TRY(import_llama2c(options.model, options.vocabulary, options.output));
  if (options.json) {
    const nlohmann::json document = {{"input", options.model}, {"output", options.output}};
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    std::printf("wrote %s\n", options.output.c_str());
  }
  return {};
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("import", "write a model of another format as a GGUF file");
  command.footer(examples);
  command.require_subcommand();
  const Command llama2c = command.add_subcommand("llama2c", "a checkpoint of llama2.c with its vocabulary");
  llama2c.add_option("MODEL", options->model, "the checkpoint, with a header of seven numbers").required();
  llama2c.add_option("TOKENIZER", options->vocabulary, "its vocabulary").required();
  llama2c.add_option("OUT", options->output, "the GGUF file to write").required();
  llama2c.add_flag("--json", options->json, "machine-readable output");
  llama2c.footer(examples);
  llama2c.callback([options, &exit_code] { exit_code = finish_command(run(*options)); });
}

}  // namespace ingot::import_command
