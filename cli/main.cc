// The door: one program, a subcommand for each thing it does.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>

#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/usage_error.h"
#include "cli/version.h"

namespace {

constexpr const char* description =
    "Ingot casts a model into a machine.\n"
    "It runs model files on compute kernels that are contracts with many\n"
    "implementations, each verified on your CPU against a scalar reference and\n"
    "measured against your machine's own limits.";

constexpr const char* examples =
    "Examples:\n"
    "  ingot run model.gguf -p \"Hello\"     continue a text\n"
    "  ingot serve model.gguf              answer many clients over HTTP\n"
#ifdef INGOT_CASTS
    "  ingot cast model.gguf -o model.img  one bootable file of kernel, engine and model\n"
    "  ingot boot model.img                boot it in an emulator\n"
#endif
    "  ingot kernels norm                  what the norm family holds, and what runs here\n"
    "  ingot verify                        prove every kernel on this CPU\n"
    "  ingot bench linear.matmul           time one operation's variants\n"
    "  ingot machine                       the CPU, its caches and its measured peaks\n"
    "\n"
    "Each command has its own --help.";

#ifdef INGOT_CASTS
// Takes off the command line of `boot` what stands behind --: the booted program's arguments, which may look like ours.
std::vector<std::string> take_program_arguments(int& argument_count, char** arguments) {
  if (argument_count < 2 || std::string_view(arguments[1]) != "boot") return {};
  char** const end = arguments + argument_count;
  char** const dashes = std::find(arguments + 2, end, std::string_view("--"));
  argument_count = static_cast<int>(dashes - arguments);
  return dashes == end ? std::vector<std::string>() : std::vector<std::string>(dashes + 1, end);
}
#endif

// The exit code, unless a full disk is behind a redirection: then what was asked for has not been given.
int all_was_written(int exit_code) {
  std::cout.flush();  // by which CLI11 prints help
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  ingot::print_error("expected to write all of the output, found that it was refused");
  return exit_code == ingot::exit_success ? ingot::exit_failure : exit_code;
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App application(description, "ingot");
  application.footer(examples);
  application.require_subcommand(0, 1);  // none with --version
  bool wants_version = false, wants_json = false;
  CLI::Option* const version = application.add_flag("--version", wants_version, "what this program is and was made of");
  application.add_flag("--json", wants_json, "the same, machine-readable")->needs(version);
  int exit_code = ingot::exit_success;
  const ingot::Command program(application);
  ingot::run_command::add(program, exit_code);
  ingot::chat_command::add(program, exit_code);
  ingot::serve_command::add(program, exit_code);
  ingot::train_command::add(program, exit_code);
  ingot::explain_command::add(program, exit_code);
  ingot::quantize_command::add(program, exit_code);
  ingot::pack_command::add(program, exit_code);
  ingot::import_command::add(program, exit_code);
  ingot::perplexity_command::add(program, exit_code);
  ingot::compare_command::add(program, exit_code);
  ingot::embed_command::add(program, exit_code);
  ingot::tokenize_command::add(program, exit_code);
  ingot::tokenizer_command::add(program, exit_code);
  ingot::tales_command::add(program, exit_code);
#ifdef INGOT_CASTS
  ingot::cast_command::add(program, exit_code);
  const std::vector<std::string> program_arguments = take_program_arguments(argument_count, arguments);
  ingot::boot_command::add(program, program_arguments, exit_code);
#endif
  ingot::kernels_command::add(program, exit_code);
  ingot::verify_command::add(program, exit_code);
  ingot::bench_command::add(program, exit_code);
  ingot::machine_command::add(program, exit_code);
  try {
    if (argument_count == 1) throw CLI::RequiredError("A command");
    application.parse(argument_count, arguments);
    if (application.get_subcommands().empty() && !wants_version) throw CLI::RequiredError("A command");
  } catch (const CLI::Success& help) {
    return all_was_written(application.exit(help));
  } catch (const CLI::ParseError& error) {
    if (argument_count == 1) {
      std::fprintf(stderr, "%s", application.help().c_str());
    } else {
      ingot::print_error(ingot::usage_error(application, error));
    }
    return ingot::exit_usage;
  }
  if (wants_version) ingot::print_version(wants_json);
  return all_was_written(exit_code);
}
