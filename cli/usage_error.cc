#include "cli/usage_error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/edit_distance.h"

namespace ingot {
namespace {

// The command that the line names: the innermost one.
const CLI::App& named_command(const CLI::App& application) {
  const CLI::App* command = &application;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string full_name(const CLI::App& command) {
  const std::string before = command.get_parent() == nullptr ? "" : full_name(*command.get_parent()) + ' ';
  return before + command.get_name();
}

std::string in_quotes(std::string_view word) { return "'" + std::string(word) + "'"; }

struct Spelling {
  std::string_view theirs, ours;
};
// What other programs that run models call an option, and we otherwise; where two are ours, each is of other commands.
constexpr auto spellings = std::to_array<Spelling>({
    {"--temp", "--temperature"},
    {"-c", "--context"},
    {"--ctx-size", "--context"},
    {"-t", "--threads"},
    {"-s", "--seed"},
    {"-p", "--prompt"},
    {"-n", "--generate"},
    {"--n-predict", "--tokens"},
    {"-r", "--stop"},
    {"--reverse-prompt", "--stop"},
    {"--repeat-penalty", "--repetition-penalty"},
    {"-sys", "--system"},
    {"--system-prompt", "--system"},
    {"-sp", "--special"},
    {"--lora", "--adapter"},
    {"--lora-scaled", "--adapter"},
    {"--n-gpu-layers", "--device"},
    {"-ctk", "--cache"},
    {"-ctk", "--cache-type"},
    {"-ctv", "--cache"},
    {"-ctv", "--cache-type"},
    {"--cache-type-k", "--cache"},
    {"--cache-type-v", "--cache"},
    {"-j", "--schema"},
    {"-jf", "--schema"},
    {"--json-schema", "--schema"},
    {"--grammar-file", "--grammar"},
    {"--chat-template", "--template"},
    {"--chat-template-file", "--template"},
    {"--prompt-cache", "--save-session"},
    {"-np", "--sequences"},
    {"--parallel", "--sequences"},
    {"-a", "--alias"},
    {"--api-key", "--api-key-file"},
});

// Ours for it, of those that there are; empty where there is none.
std::string_view our_spelling(std::string_view word, const std::vector<std::string>& names) {
  for (const Spelling& spelling : spellings) {
    const bool is_there = std::find(names.begin(), names.end(), spelling.ours) != names.end();
    if (spelling.theirs == word && is_there) return spelling.ours;
  }
  return "";
}

// ". Did you mean 'x'?", where a name is near enough that someone may have.
std::string guess(const std::string& word, const std::vector<std::string>& names) {
  if (const std::string_view ours = our_spelling(word, names); !ours.empty()) {
    return ". Did you mean " + in_quotes(ours) + "?";
  }
  if (word.size() <= 2) return "";  // every single letter is near every other
  const std::string* nearest = nullptr;
  // Dashes are in all of them, and say nothing.
  std::size_t least = (word.size() - std::min(word.find_first_not_of('-'), word.size())) / 2 + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : ". Did you mean " + in_quotes(*nearest) + "?";
}

std::vector<std::string> command_names(const CLI::App& application) {
  std::vector<std::string> names;
  for (const CLI::App* command : application.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string missing_command(const CLI::App& command, const std::vector<std::string>& unknown) {
  const std::vector<std::string> names = command_names(command);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  const std::string found = unknown.empty() ? "none" : in_quotes(unknown.front()) + guess(unknown.front(), names);
  return "expected a command of " + in_quotes(full_name(command)) + " (" + list + "), found " + found;
}

bool takes_models(const CLI::App& command) {
  const auto is_model = [](const CLI::Option* option) {
    return option->get_positional() && option->get_single_name() == "MODEL";
  };
  return !command.get_options(is_model).empty();
}

// Whether it takes a text of its user's own making at some place: names of files may begin with a dash, too, but ./
// helps.
bool takes_text(const CLI::App& command) {
  const auto is_text = [](const CLI::Option* option) {
    return option->get_positional() && option->get_single_name() == "TEXT";
  };
  return !command.get_options(is_text).empty();
}

// "--word" is an option, however it is spelt; "-item" and "---" may be a text.
bool looks_like_option(std::string_view word) {
  return word.size() > 2 && word.starts_with("--") && word[2] >= 'a' && word[2] <= 'z';
}

// The first word decides: what follows an option that nobody knows may be its value.
std::string unknown_words(const CLI::App& command, const std::vector<std::string>& unknown) {
  const std::string& first = unknown.front();
  const std::string name = full_name(command);
  if (!first.starts_with('-')) {
    return "expected no more arguments of " + in_quotes(name) + ", found " + in_quotes(first);
  }
  const std::string option = first.substr(0, first.find('='));
  const std::vector<std::string> known = option_names(command);
  if (std::find(known.begin(), known.end(), option) != known.end()) {
    return "expected no more arguments of " + in_quotes(name) + ", found " + in_quotes(first) +
           ": behind -- nothing is an option";
  }
  if ((option == "-m" || option == "--model") && takes_models(command)) {
    return "expected an option of " + in_quotes(name) + ", found " + in_quotes(first) +
           ": the model is the first word, as in " + name + " model.gguf";
  }
  std::string text = "expected an option of " + in_quotes(name) + ", found " + in_quotes(first) + guess(option, known);
  if (looks_like_option(first) || !takes_text(command)) return text;
  return text + "\nA text that begins with - stands behind --, as in: " + name + " ... -- " + in_quotes(first);
}

// CLI11 says "--tokens: 1 required INT missing" and "--prompt: At Most 1 required but received 2".
std::string wrong_count(const std::string& text) {
  const std::string option = text.substr(0, text.find(':'));
  if (text.ends_with(" missing")) return "expected a value behind " + option + ", found none";
  if (text.find("At Most 1 ") != std::string::npos) {
    return "expected " + option + " once, found it " + text.substr(text.rfind(' ') + 1) + " times";
  }
  return text;
}

// CLI11 says "--private-key requires --certificate".
std::string missing_company(const std::string& text) {
  constexpr std::string_view verb = " requires ";
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return text;
  const std::string option = text.substr(0, at);
  return "expected " + text.substr(at + verb.size()) + " beside " + option + ", found " + option +
         " alone: give both, or neither";
}

// CLI11 says "--no-pack excludes --pack".
std::string wrong_company(const std::string& text) {
  constexpr std::string_view verb = " excludes ";
  const std::size_t at = text.find(verb);
  if (at == std::string::npos) return text;
  return "expected " + text.substr(0, at) + " or " + text.substr(at + verb.size()) +
         ", found both: leave one of them out";
}

// CLI11 says "Could not convert: --json = maybe". Options that take a value have checks of their own.
std::string wrong_value(const std::string& text) {
  constexpr std::string_view begin = "Could not convert: ", between = " = ";
  const std::size_t at = text.find(between);
  if (!text.starts_with(begin) || at == std::string::npos) return text;
  return text.substr(begin.size(), at - begin.size()) + ": expected no value, true or false, found " +
         in_quotes(text.substr(at + between.size()));
}

}  // namespace

std::string usage_error(const CLI::App& application, const CLI::ParseError& error) {
  const CLI::App& command = named_command(application);
  std::vector<std::string> unknown = application.remaining(true);
  std::erase(unknown, "--");
  const bool lacks_command = &command == &application || command.get_require_subcommand_min() > 0;
  std::string text = error.what();
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if ((is_required || is_extra) && lacks_command) {
    text = missing_command(command, unknown);
  } else if ((is_required || is_extra) && !unknown.empty()) {
    text = unknown_words(command, unknown);
  } else if (const std::size_t end = text.find(" is required"); is_required && end != std::string::npos) {
    text = full_name(command) + ": expected " + text.substr(0, end) + ", found none";
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    text = full_name(command) + ": " + wrong_count(text);
  } else if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    text = full_name(command) + ": " + missing_company(text);
  } else if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    text = full_name(command) + ": " + wrong_company(text);
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    text = full_name(command) + ": " + wrong_value(text);
  } else {
    text = full_name(command) + ": " + text;
  }
  const std::string help = command.get_parent() == nullptr ? "ingot --help" : full_name(command) + " --help";
  return text + "\nRun '" + help + "' for what it takes.";
}

}  // namespace ingot
