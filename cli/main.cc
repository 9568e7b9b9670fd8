// The door: one program, a subcommand for each thing it does.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>

#include "cli/command.h"
#include "cli/compared_models.h"
#include "cli/completion.h"
#include "cli/gpu_program.h"
#include "cli/standard_descriptors.h"
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
    "Each command has its own --help: ingot help COMMAND shows it, too.";

constexpr const char* completion_examples =
    "Examples:\n"
    "  eval \"$(ingot completion bash)\"      in ~/.bashrc\n"
    "  source <(ingot completion zsh)        in ~/.zshrc, after compinit";

// Takes off the command line of `boot` what stands behind --: the booted program's arguments, which may look like ours.
std::vector<std::string> take_program_arguments(int& argument_count, char** arguments) {
  if (argument_count < 2 || std::string_view(arguments[1]) != "boot") return {};
  char** const end = arguments + argument_count;
  char** const dashes = std::find(arguments + 2, end, std::string_view("--"));
  argument_count = static_cast<int>(dashes - arguments);
  return dashes == end ? std::vector<std::string>() : std::vector<std::string>(dashes + 1, end);
}

// The words, reversed, as CLI11 takes them; "--name=" is two, the second empty: else the word behind it would be taken
// for the value.
std::vector<std::string> reversed_words(const CLI::App& application, const std::vector<std::string>& given) {
  std::vector<std::string> words;
  const CLI::App* command = &application;
  bool has_options = true;  // until --
  for (const std::string& word : given) {
    const auto is_it = [&](const CLI::App* each) { return each->get_name() == word; };
    const std::vector<const CLI::App*> named = command->get_subcommands(is_it);
    if (!named.empty()) command = named.front();
    has_options = has_options && word != "--";
    const bool lacks_value = has_options && word.starts_with("--") && word.find('=') == word.size() - 1;
    const CLI::Option* option = lacks_value ? command->get_option_no_throw(word.substr(0, word.size() - 1)) : nullptr;
    if (option == nullptr || option->get_items_expected_max() == 0) {
      words.push_back(word);
    } else {
      words.insert(words.end(), {word.substr(0, word.size() - 1), ""});
    }
  }
  return {words.rbegin(), words.rend()};
}

// In the order of --help. `program_arguments`: of a program that casts and boots; null: of an image's engine, which
// does neither.
void add_commands(const ingot::Command& program, [[maybe_unused]] const std::vector<std::string>* program_arguments,
                  int& exit_code) {
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
  if (program_arguments != nullptr) {
    ingot::cast_command::add(program, exit_code);
    ingot::boot_command::add(program, *program_arguments, exit_code);
  }
#endif
  ingot::kernels_command::add(program, exit_code);
  ingot::verify_command::add(program, exit_code);
  ingot::bench_command::add(program, exit_code);
  ingot::machine_command::add(program, exit_code);
  ingot::accelerator_command::add(program, exit_code);
}

// Of all commands there are, itself included.
void add_completion(CLI::App& application) {
  auto shell = std::make_shared<std::string>();
  const ingot::Command command =
      ingot::Command(application).add_subcommand("completion", "a script by which a shell completes command lines");
  command.footer(completion_examples);
  command.add_option("SHELL", *shell, "whose").required().check(ingot::one_of({"bash", "zsh"}));
  command.callback([&application, shell] {
    const ingot::Shell named = *shell == "bash" ? ingot::Shell::bash : ingot::Shell::zsh;
    std::fputs(ingot::completion_script(application, named).c_str(), stdout);
  });
}

// "ingot help run" shows what "ingot run --help" does. Words that name no command are bad usage, and nothing is run.
int show_help(const CLI::App& application, const std::vector<std::string>& names) {
  const CLI::App* command = &application;
  std::string before;
  for (const std::string& name : names) {
    const auto is_it = [&](const CLI::App* each) { return each->get_name() == name; };
    const std::vector<const CLI::App*> found = command->get_subcommands(is_it);
    if (found.empty()) {
      ingot::print_error("expected the name of a command behind 'ingot help', found '" + name +
                         "'\nRun 'ingot help' for all of them.");
      return ingot::exit_usage;
    }
    before += (before.empty() ? "" : " ") + command->get_name();
    command = found.front();
  }
  std::fputs(command->help(before).c_str(), stdout);
  return ingot::exit_success;
}

#ifdef INGOT_CASTS
// A parsed command would run.
void forget_callbacks(CLI::App& application) {
  for (CLI::App* command : application.get_subcommands([](CLI::App*) { return true; })) {
    command->callback({});
    forget_callbacks(*command);
  }
}
#endif

// The device that the parsed command was told to use, or a side of what it compares; empty where it was told none, or
// takes none.
std::string chosen_device(const CLI::App& application) {
  std::string device;
  for (const CLI::App* command : application.get_subcommands()) {
    const CLI::Option* const option = command->get_option_no_throw("--device");
    if (option != nullptr && option->count() > 0) device = option->as<std::string>();
    const CLI::Option* const compared = command->get_option_no_throw("--compare");
    for (const std::string& word : compared == nullptr ? std::vector<std::string>() : compared->results()) {
      const auto side = ingot::options_of_side({}, word);
      if (side.ok() && side.value().device != "cpu") device = side.value().device;
    }
    const std::string inner = chosen_device(*command);
    if (!inner.empty()) device = inner;
  }
  return device;
}

// The exit code, unless a full disk is behind a redirection: then what was asked for has not been given.
int all_was_written(int exit_code) {
  std::cout.flush();  // by which CLI11 prints help
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return exit_code;
  ingot::print_error("expected to write all of the output, found that it was refused");
  return exit_code == ingot::exit_success ? ingot::exit_failure : exit_code;
}

}  // namespace

#ifdef INGOT_CASTS
ingot::Result<void> ingot::check_engine_words(const std::vector<std::string>& words) {
  CLI::App application("", "ingot");
  application.require_subcommand(1);
  int unused = exit_success;
  add_commands(Command(application), nullptr, unused);
  forget_callbacks(application);
  try {
    application.parse(reversed_words(application, words));
  } catch (const CLI::Success&) {  // help is what they ask for
  } catch (const CLI::ParseError& error) {
    return Error::of(ErrorCode::invalid_argument, std::string_view(usage_error(application, error)));
  }
  return {};
}
#endif

int main(int argument_count, char** arguments) {
  ingot::hold_standard_descriptors();
  CLI::App application(description, "ingot");
  application.footer(examples);
  application.require_subcommand(0, 1);  // none with --version
  bool wants_version = false, wants_json = false;
  CLI::Option* const version = application.add_flag("--version", wants_version, "what this program is and was made of");
  application.add_flag("--json", wants_json, "the same, machine-readable")->needs(version);
  int exit_code = ingot::exit_success;
  const ingot::Command program(application);
  const std::vector<std::string> program_arguments = take_program_arguments(argument_count, arguments);
  add_commands(program, &program_arguments, exit_code);
  add_completion(application);
  if (argument_count > 1 && std::string_view(arguments[1]) == "help") {
    return all_was_written(show_help(application, {arguments + 2, arguments + argument_count}));
  }
  // Before any command runs, and after all that was wrong with the line has been said.
  application.parse_complete_callback([&] {
    if (!ingot::needs_gpu_program(chosen_device(application))) return;
    ingot::print_error(ingot::become_gpu_program(arguments).text());
    throw CLI::RuntimeError(ingot::exit_failure);
  });
  try {
    if (argument_count == 1) throw CLI::RequiredError("A command");
    application.parse(reversed_words(application, {arguments + 1, arguments + argument_count}));
    if (application.get_subcommands().empty() && !wants_version) throw CLI::RequiredError("A command");
  } catch (const CLI::Success& help) {
    return all_was_written(application.exit(help));
  } catch (const CLI::RuntimeError& told) {
    return told.get_exit_code();
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
