#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/standard_input.h"
#include "cli/terminal.h"
#include "model/files/mapped_file.h"
#include "model/files/replaced_file.h"
#include "train/tales/tale_checker.h"
#include "train/tales/tale_corpus.h"
#include "train/tales/tale_writer.h"

namespace ingot::tales_command {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot tales write --count 3                        three tales\n"
    "  ingot tales write --count 60000 --output tales.txt a corpus to train on\n"
    "  ingot tales opening Mila kite \"the old mill\"       a prompt\n"
    "  ingot tales check samples.txt --json               which samples keep their facts";

constexpr const char* write_examples =
    "Each tale is one line; a line with <|end|> follows it. The same seed gives the same tales everywhere.\n"
    "A tenth of all (hero, object, home) triples are held out of what is written, unless --held-out says otherwise.\n"
    "\n"
    "Examples:\n"
    "  ingot tales write --count 60000 --seed 1 --output train.txt\n"
    "  ingot tales write --count 500 --seed 2 --held-out only --openings   prompts that training never saw";

constexpr const char* opening_examples =
    "Examples:\n"
    "  ingot tales opening Mila kite \"the old mill\"\n"
    "  ingot tales opening Tom \"music box\" \"the farm\" --seed 7";

constexpr const char* check_examples =
    "Texts are divided by <|end|>. The exit code is 1 if any of them is not a tale.\n"
    "\n"
    "Examples:\n"
    "  ingot tales check samples.txt\n"
    "  ingot tales write --count 1000 | ingot tales check -";

constexpr int bar_steps = 200;
constexpr std::int64_t most_tales = 100'000'000;  // 60 GB: more is a slip

struct WriteOptions {
  std::int64_t count = 10;
  std::uint64_t seed = 1;
  std::string output;
  std::string held_out = "exclude";
  bool openings = false;
  bool json = false;
};

struct OpeningOptions {
  std::string hero, object, home;
  std::uint64_t seed = 1;
  bool json = false;
};

struct CheckOptions {
  std::string file = "-";
  bool json = false;
};

void print_json(const nlohmann::json& document) {
  std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

HeldOut held_out_named(const std::string& name) {
  if (name == "only") return HeldOut::only;
  return name == "ignore" ? HeldOut::ignore : HeldOut::exclude;
}

Result<void> write(const WriteOptions& options) {
  TaleWriter writer(options.seed, held_out_named(options.held_out));
  std::optional<ReplacedFile> file;
  if (!options.output.empty()) file.emplace(TRY(ReplacedFile::create(options.output)));
  ProgressBar progress("writing", bar_steps);
  std::int64_t shown = 0;
  std::string text;
  for (std::int64_t count = 0; count < options.count; ++count) {
    text.clear();
    append_tale(text, options.openings ? writer.next_opening() : writer.next());
    if (file) {
      TRY(file->write(std::as_bytes(std::span(text))));
      for (; shown < bar_steps * count / options.count; ++shown) progress.advance(std::to_string(count) + " tales");
    } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      return Error::of(ErrorCode::input_output, "standard output: expected to write tale ", count + 1,
                       ", found it closed or full");
    }
  }
  if (file) {
    TRY(file->commit());
    if (options.json) print_json({{"output", options.output}, {"tales", options.count}, {"seed", options.seed}});
    return {};
  }
  if (std::fflush(stdout) != 0) {
    return Error::of(ErrorCode::input_output, "standard output: expected to write all tales, found it closed or full");
  }
  return {};
}

Result<void> open(const OpeningOptions& options) {
  RandomNumbers random(options.seed);
  const std::string text = TRY(tale_opening(options.hero, options.object, options.home, random));
  if (options.json) {
    print_json({{"hero", options.hero}, {"object", options.object}, {"home", options.home}, {"text", text}});
  } else {
    std::printf("%s\n", text.c_str());
  }
  return {};
}

Result<void> check(const CheckOptions& options) {
  std::string input;
  std::optional<MappedFile> file;
  if (options.file == "-") {
    input = TRY(read_standard_input());
  } else {
    file.emplace(TRY(MappedFile::open(options.file)));
  }
  const std::string_view text = file ? file->text() : std::string_view(input);
  std::uint64_t tales = 0;
  std::uint64_t bad = 0;
  nlohmann::json faults = nlohmann::json::array();
  {
    ProgressBar progress("checking", bar_steps);
    double shown = 0;
    TaleSplitter splitter(text);
    while (const std::optional<std::string_view> tale = splitter.next()) {
      ++tales;
      const double done = 1 - static_cast<double>(splitter.left()) / static_cast<double>(text.size());
      for (; shown < bar_steps * done; ++shown) progress.advance(std::to_string(tales) + " tales");
      const TaleReading reading = read_tale(*tale);
      if (!reading.fault) continue;
      ++bad;
      if (options.json) {
        faults.push_back({{"tale", tales},
                          {"sentence", reading.fault->sentence},
                          {"text", reading.fault->sentence_text},
                          {"expected", reading.fault->expected},
                          {"found", reading.fault->found}});
      } else {
        std::printf("tale %llu, sentence %d: expected %s, found %s\n    %s\n", static_cast<unsigned long long>(tales),
                    reading.fault->sentence, reading.fault->expected.c_str(), reading.fault->found.c_str(),
                    reading.fault->sentence_text.c_str());
      }
    }
  }
  if (options.json) {
    print_json({{"tales", tales}, {"good", tales - bad}, {"bad", bad}, {"faults", faults}});
  } else {
    std::printf("%llu of %llu tales are good\n", static_cast<unsigned long long>(tales - bad),
                static_cast<unsigned long long>(tales));
  }
  if (tales == 0) return Error::of(ErrorCode::corrupt, options.file, ": expected tales, found none");
  if (bad > 0) return Error::of(ErrorCode::corrupt, options.file, ": expected good tales only, found ", bad, " bad");
  return {};
}

void add_write(const Command& tales, int& exit_code) {
  auto options = std::make_shared<WriteOptions>();
  const Command command = tales.add_subcommand("write", "write tales");
  command.footer(write_examples);
  command.add_option("--count", options->count, "how many")
      .check(between(std::int64_t{1}, most_tales))
      .capture_default_str();
  command.add_option("--seed", options->seed, "which ones").capture_default_str();
  const Option output =
      command.add_option("--output", options->output, "the file to write, all at once; standard output otherwise");
  command.add_option("--held-out", options->held_out, "what becomes of triples held out: exclude, only or ignore")
      .check(one_of({"exclude", "only", "ignore"}))
      .capture_default_str();
  command.add_flag("--openings", options->openings, "only their first sentences: prompts");
  command.add_flag("--json", options->json, "say what was written as JSON").needs(output);
  command.callback([options, &exit_code] { exit_code = finish_command(write(*options)); });
}

void add_opening(const Command& tales, int& exit_code) {
  auto options = std::make_shared<OpeningOptions>();
  const Command command = tales.add_subcommand("opening", "write the beginning of a tale, as a prompt");
  command.footer(opening_examples);
  command.add_option("HERO", options->hero, "a name").required();
  command.add_option("OBJECT", options->object, "what the hero wants").required();
  command.add_option("HOME", options->home, "where the hero lives").required();
  command.add_option("--seed", options->seed, "which of the many beginnings").capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(open(*options)); });
}

void add_check(const Command& tales, int& exit_code) {
  auto options = std::make_shared<CheckOptions>();
  const Command command = tales.add_subcommand("check", "say which texts are tales that keep their facts");
  command.footer(check_examples);
  command.add_option("FILE", options->file, "the texts; - for standard input").capture_default_str();
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = finish_command(check(*options)); });
}

}  // namespace

void add(const Command& application, int& exit_code) {
  const Command command =
      application.add_subcommand("tales", "short stories from a grammar: to train on, and to check");
  command.footer(examples);
  command.require_subcommand();
  add_write(command, exit_code);
  add_opening(command, exit_code);
  add_check(command, exit_code);
}

}  // namespace ingot::tales_command
