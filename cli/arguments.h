// What a command declares of its arguments. CLI11 reads them, but its header is known to four files alone: its
// functions are all inline, and cost each file that sees them more than the command itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace ingot {

// What the text of an option must be.
class Check {
 public:
  explicit Check(std::shared_ptr<const CLI::Validator> validator) : validator_(std::move(validator)) {}
  const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};

Check between(std::int64_t least, std::int64_t most);
Check between(double least, double most);
inline Check between(int least, int most) { return between(std::int64_t{least}, std::int64_t{most}); }
Check one_of(std::vector<std::string> words);
// The function returns what is wrong with the text, or nothing; for transform() it also changes the text.
Check checked_by(std::string_view name, std::function<std::string(std::string&)> function);

// The same, of a function that says what is wrong as an error.
Check accepted_by(std::string_view name, std::function<Result<void>(const std::string&)> function);

// A name of a file or folder: nobody who writes --api-key-file "$KEYS" means no keys where that is empty.
Check as_file();

// "512M", "2G", "64KiB", or bytes; for transform(), which turns them into bytes.
Check as_bytes();

// An option or a flag that a command was given. A handle: the application owns it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  Option check(const Check& check) const;
  Option transform(const Check& rewriting) const;
  Option capture_default_str() const;  // --help shows the variable's value
  Option one_word_each_time() const;   // of an option that may be given several times
  Option two_words() const;            // of one that is given once
  Option take_all() const;             // given again, it adds to what was given
  Option excludes(Option other) const;
  Option needs(Option other) const;
  bool is_given() const;

 private:
  CLI::Option* option_;
};

// A command, or the program. A handle, too.
class Command {
 public:
  explicit Command(CLI::App& application) : application_(&application) {}

  Command add_subcommand(std::string name, std::string description) const;
  // Numbers, texts, lists of texts: the types that arguments.cc names.
  template <class Variable>
  Option add_option(std::string name, Variable& variable, std::string description) const;
  Option add_flag(std::string name, bool& variable, std::string description) const;
  Option add_flag_callback(std::string name, std::function<void()> given, std::string description) const;
  void footer(std::string text) const;
  void require_subcommand() const;
  void callback(std::function<void()> parsed) const;
  bool has_parsed_subcommand() const;
  // Of a command whose subcommand was parsed: what stands before that one would have no effect.
  Result<void> require_no_options() const;

 private:
  CLI::App* application_;
};

}  // namespace ingot
