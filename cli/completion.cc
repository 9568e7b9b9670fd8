#include "cli/completion.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

namespace ingot {
namespace {

struct Word {
  std::string text;
  std::string description = {};
};

// What may stand behind one command: "ingot bench", then "ingot bench model".
struct Place {
  std::string name;
  std::vector<Word> commands;
  std::vector<Word> options;
  // Behind an option: the words it takes, or none where that is anything, most often a file.
  struct Value {
    std::string option;
    std::vector<std::string> words;
  };
  std::vector<Value> values;
  std::vector<std::string> words;  // that an argument without a name takes
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Of "TEXT:{f32,f16,q8_0}", as --help has it, those in brackets.
std::vector<std::string> listed_words(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}', begin);
  std::vector<std::string> words;
  if (begin == std::string::npos || end == std::string::npos) return words;
  std::size_t at = begin + 1;
  while (at < end) {
    const std::size_t next = std::min(type.find(',', at), end);
    words.push_back(type.substr(at, next - at));
    at = next + 1;
  }
  return words;
}

void add_option(const CLI::Option& option, Place& place) {
  const std::vector<std::string> words = listed_words(option.get_type_name());
  if (option.get_positional()) place.words.insert(place.words.end(), words.begin(), words.end());
  const auto add_name = [&](const std::string& name) {
    place.options.push_back({name, first_line(option.get_description())});
    if (option.get_items_expected_max() > 0) place.values.push_back({name, words});
  };
  for (const std::string& name : option.get_lnames()) add_name("--" + name);
  for (const std::string& name : option.get_snames()) add_name("-" + name);
}

// The command's own first, then those below it.
void add_places(const CLI::App& command, const std::string& name, std::vector<Place>& places) {
  Place place{.name = name, .commands = {}, .options = {}, .values = {}, .words = {}};
  for (const CLI::Option* option : command.get_options()) add_option(*option, place);
  const std::vector<const CLI::App*> inner = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* each : inner) {
    place.commands.push_back({each->get_name(), first_line(each->get_description())});
  }
  places.push_back(std::move(place));
  for (const CLI::App* each : inner) add_places(*each, name + ' ' + each->get_name(), places);
}

// As one word of a shell, whatever stands in it.
std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += "'\\''";
    } else {
      word += letter;
    }
  }
  return word + "'";
}

template <class Words, class Spelling>
std::string joined(const Words& words, std::string_view between, Spelling spelling) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += between;
    text += spelling(word);
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  return joined(words, " ", [](const std::string& word) { return word; });
}

// zsh shows descriptions beside words; what divides the two may not stand in a word itself, and does not.
std::string described(const std::vector<Word>& words, Shell shell) {
  if (shell == Shell::bash) return shell_word(joined(words, " ", [](const Word& word) { return word.text; }));
  return '(' + joined(words, " ", [](const Word& word) { return shell_word(word.text + ':' + word.description); }) +
         ')';
}

// Sets `place` to the innermost command that stands before the word in question.
std::string place_finder(const std::vector<Place>& places, std::string_view words, std::string_view count, int first) {
  std::string names;
  for (const Place& place : places) {
    for (const Word& command : place.commands) {
      names += (names.empty() ? "" : " | ") + shell_word(place.name + ' ' + command.text);
    }
  }
  std::string text = "  local place=ingot index\n";
  text.append("  for ((index = ")
      .append(std::to_string(first))
      .append("; index < ")
      .append(count)
      .append("; ++index)); do\n");
  text.append("    case \"$place ${").append(words).append("[index]}\" in\n");
  text.append("      ").append(names).append(") place=\"$place ${").append(words).append("[index]}\" ;;\n");
  return text + "    esac\n  done\n";
}

// Where the word before is an option with a value, that alone is completed.
std::string value_cases(const std::vector<Place>& places, std::string_view add_words, std::string_view add_files) {
  std::string text = "  case \"$place $before\" in\n";
  for (const Place& place : places) {
    std::vector<std::string> free;
    for (const Place::Value& value : place.values) {
      const std::string name = shell_word(place.name + ' ' + value.option);
      if (value.words.empty()) {
        free.push_back(name);
        continue;
      }
      text.append("    ").append(name).append(") ").append(add_words).append(shell_word(joined(value.words)));
      text.append("; return ;;\n");
    }
    if (free.empty()) continue;
    text.append("    ").append(joined(free, " | ", [](const std::string& name) { return name; }));
    text.append(") ").append(add_files).append("; return ;;\n");
  }
  return text + "  esac\n";
}

std::string word_cases(const std::vector<Place>& places, Shell shell) {
  std::string text = "  case \"$place\" in\n";
  for (const Place& place : places) {
    std::vector<Word> arguments = place.commands;
    for (const std::string& word : place.words) arguments.push_back({word});
    text.append("    ").append(shell_word(place.name)).append(")\n");
    text.append("      options=").append(described(place.options, shell)).append("\n");
    text.append("      arguments=").append(described(arguments, shell)).append(" ;;\n");
  }
  return text + "  esac\n";
}

std::string bash_script(const std::vector<Place>& places) {
  return "# Completion of ingot's command lines for bash: eval \"$(ingot completion bash)\"\n"
         "_ingot_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n"
         "_ingot() {\n"
         "  COMPREPLY=()\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options arguments\n" +
         place_finder(places, "COMP_WORDS", "COMP_CWORD", 1) +
         // bash divides --name=value into three words.
         "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n" +
         value_cases(places, "_ingot_words ", ":") + word_cases(places, Shell::bash) +
         "  if [[ $word == -* ]]; then _ingot_words \"$options\"; else _ingot_words \"$arguments\"; fi\n"
         "}\n"
         // Where there is no word of ours, it is a file.
         "complete -o bashdefault -o default -F _ingot ingot\n";
}

std::string zsh_script(const std::vector<Place>& places) {
  return "#compdef ingot\n"
         "# Completion of ingot's command lines for zsh: source <(ingot completion zsh), or as _ingot in a folder of\n"
         "# $fpath.\n"
         "_ingot_words() { compadd -- ${=1} }\n"
         "_ingot() {\n"
         "  local word=${words[CURRENT]} before=${words[CURRENT-1]}\n"
         "  local -a options arguments\n" +
         place_finder(places, "words", "CURRENT", 2) + value_cases(places, "_ingot_words ", "_files") +
         word_cases(places, Shell::zsh) +
         "  if [[ $word == -* ]]; then _describe -o option options; return; fi\n"
         "  if (( $#arguments )); then _describe word arguments; else _files; fi\n"
         "}\n"
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _ingot \"$@\"; else compdef _ingot ingot; fi\n";
}

}  // namespace

std::string completion_script(const CLI::App& application, Shell shell) {
  std::vector<Place> places;
  add_places(application, application.get_name(), places);
  return shell == Shell::bash ? bash_script(places) : zsh_script(places);
}

}  // namespace ingot
