// MaskBench (github.com/guidance-ai/jsonschemabench, folder maskbench/data), from outside of the tree:
//   bench_mask_bench DATA_FOLDER TOKENIZER.json [--masks] [--each] [--only TEXT]
// For each schema: it compiles or is refused, each valid instance is accepted, each invalid one refused, as the
// benchmark's own runner asks: instances in the order in which the file has them, spelled as Python's json.dumps does.
// Beyond it: what is refused is tried in every order of its properties, so that an instance refused for that alone is
// told apart; and an invalid instance must be refused in all of them.
// --masks computes one before each token, on this thread, and tells how long they took. --each prints a line a schema.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/grammar/code_points.h"
#include "model/grammar/json_schema.h"
#include "model/grammar/token_masks.h"
#include "model/tokenizer/tokenizer.h"

namespace {

using namespace ingot;
using namespace ingot::grammar;
using chat::Kind;
using chat::Value;

constexpr double most_compile_time = 1e6;

// Of this thread alone, in microseconds: others may use the processor too.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As Python spells a float: the shortest digits that give it back, with a point or an exponent.
std::string float_text(double number) {
  char digits[400];
  const double size = std::fabs(number);
  const bool is_fixed = number == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = is_fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string text(digits, std::to_chars(digits, digits + sizeof(digits), number, format).ptr);
  return is_fixed && text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string key_text(const Value& key) { return '"' + json_spelling(key.bytes()) + "\": "; }

std::string json_text(const Value& value) {
  std::string text;
  switch (value.kind()) {
    case Kind::boolean: return value.as_boolean() ? "true" : "false";
    case Kind::integer: return std::to_string(value.as_integer());
    case Kind::floating: return float_text(value.as_floating());
    case Kind::text: return '"' + json_spelling(value.bytes()) + '"';
    case Kind::sequence:
      for (const Value& item : value.items()) text += (text.empty() ? "" : ", ") + json_text(item);
      return "[" + text + "]";
    case Kind::dictionary:
      for (const auto& entry : value.as_dictionary().entries()) {
        text += (text.empty() ? "" : ", ") + key_text(entry.key) + json_text(entry.value);
      }
      return "{" + text + "}";
    default: return "null";
  }
}

// Whether the grammar takes a value in some order of its properties. The first that goes on is taken, and left again
// where its value does not; what the search gives up on is not found.
class AnyOrder {
 public:
  static bool takes(const std::shared_ptr<const Grammar>& grammar, const Value& value) {
    GrammarState state(grammar);
    return AnyOrder().accept(state, value) && state.can_end();
  }

 private:
  static constexpr int most_tries = 20'000;

  bool accept(GrammarState& state, const Value& value) {
    if (value.is_list()) {
      if (!state.accept("[")) return false;
      bool is_first = true;
      for (const Value& item : value.items()) {
        if (!is_first && !state.accept(", ")) return false;
        is_first = false;
        if (!accept(state, item)) return false;
      }
      return state.accept("]");
    }
    if (!value.is(Kind::dictionary)) return state.accept(json_text(value));
    std::vector<const chat::Dictionary::Entry*> left;
    for (const auto& entry : value.as_dictionary().entries()) left.push_back(&entry);
    return state.accept("{") && accept_some(state, left, true);
  }

  bool accept_some(GrammarState& state, const std::vector<const chat::Dictionary::Entry*>& left, bool is_first) {
    if (left.empty()) return state.accept("}");
    for (std::size_t index = 0; index < left.size(); ++index) {
      if (++tries_ > most_tries) return false;
      GrammarState copy = state;
      const std::string key = (is_first ? "" : ", ") + key_text(left[index]->key);
      if (!copy.accept(key) || !accept(copy, left[index]->value)) continue;
      auto rest = left;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
      if (!accept_some(copy, rest, false)) continue;
      state = copy;
      return true;
    }
    return false;
  }

  int tries_ = 0;
};

struct Options {
  bool computes_masks = false;
  bool prints_each = false;
  std::string only;
};

struct Tally {
  std::map<std::string, int> schemas;   // by what became of them
  std::map<std::string, int> refusals;  // by keyword
  int masks_failed = 0;
  int valid = 0, valid_taken = 0, valid_in_other_order = 0, invalid = 0, invalid_taken = 0;
  std::vector<double> compile_times, mask_times;
};

class Runner {
 public:
  Runner(const Tokenizer& tokenizer, std::shared_ptr<const TokenTrie> trie, const Options& options)
      : tokenizer_(tokenizer), trie_(std::move(trie)), options_(options) {}

  void run(const std::filesystem::path& path) {
    std::string detail;
    const std::string outcome = outcome_of(path, detail);
    ++tally_.schemas[outcome];
    if (options_.prints_each) {
      std::printf("%s\t%s\t%s\n", path.filename().c_str(), outcome.c_str(), detail.c_str());
      std::fflush(stdout);
    }
  }

  void print() {
    for (const auto& [outcome, count] : tally_.schemas) std::printf("%6d %s\n", count, outcome.c_str());
    std::vector<std::pair<int, std::string>> refusals;
    for (const auto& [reason, count] : tally_.refusals) refusals.emplace_back(count, reason);
    std::ranges::sort(refusals, std::greater());
    for (const auto& [count, reason] : refusals) std::printf("  refused %5d: %s\n", count, reason.c_str());
    std::printf("valid instances: %d of %d taken, %d more in another order of their properties; invalid: %d of %d\n",
                tally_.valid_taken, tally_.valid, tally_.valid_in_other_order, tally_.invalid_taken, tally_.invalid);
    std::printf("masks that took too much: %d\n", tally_.masks_failed);
    print_times("compile", tally_.compile_times);
    print_times("mask", tally_.mask_times);
  }

  bool takes_invalid() const { return tally_.invalid_taken > 0; }

 private:
  static void print_times(const char* name, std::vector<double>& times) {
    if (times.empty()) return;
    std::ranges::sort(times);
    double sum = 0;
    for (const double time : times) sum += time;
    const auto at = [&](double share) {
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    std::printf("%s: %zu, mean %.1f us, median %.1f, 75%% %.1f, 95%% %.1f, 99%% %.1f, 99.9%% %.1f, most %.0f\n", name,
                times.size(), sum / static_cast<double>(times.size()), at(0.5), at(0.75), at(0.95), at(0.99), at(0.999),
                times.back());
  }

  std::string outcome_of(const std::filesystem::path& path, std::string& detail) {
    const auto file = chat::value_from_json(contents(path));
    if (!file.ok()) {
      detail = std::string(file.error().text());
      ++tally_.refusals["the file"];
      return "refused";
    }
    const auto& entries = file.value().as_dictionary();
    const double begin = now();
    // The library looks at the clock, which runs while others compute too; here the thread's own time counts.
    const auto grammar = compile_json_schema(json_text(*entries.find("schema")), {}, {.time = std::chrono::minutes(5)});
    const double compile_time = now() - begin;
    const bool is_late = compile_time > most_compile_time;
    if (!grammar.ok() || is_late) {
      detail = is_late ? "takes longer than a second" : std::string(grammar.error().text());
      // "schema, 'keyword' at 'place': expected ...".
      const std::size_t at = detail.find("' at '");
      const std::size_t rest = detail.find("': expected");
      const bool has_place = at != std::string::npos && rest != std::string::npos && at < rest;
      ++tally_.refusals[has_place ? detail.substr(0, at + 1) + detail.substr(rest + 1) : detail];
      return "refused";
    }
    tally_.compile_times.push_back(compile_time);
    TokenMasks masks(grammar.value(), trie_);
    std::string outcome = "pass";
    for (const Value& test : entries.find("tests")->items()) {
      const auto& fields = test.as_dictionary();
      const bool is_valid = fields.find("valid")->as_boolean();
      const Value& data = *fields.find("data");
      bool is_taken = takes_tokens(grammar.value(), json_text(data), masks);
      bool is_taken_otherwise = false;
      if (!is_taken) is_taken_otherwise = AnyOrder::takes(grammar.value(), data);
      ++(is_valid ? tally_.valid : tally_.invalid);
      if (is_valid) {
        tally_.valid_taken += is_taken ? 1 : 0;
        tally_.valid_in_other_order += is_taken_otherwise ? 1 : 0;
        if (is_taken) continue;
        if (outcome == "pass" || !is_taken_otherwise) {
          detail = json_text(data);
          if (outcome != "takes invalid") outcome = is_taken_otherwise ? "order alone" : "refuses valid";
        }
      } else if (is_taken || is_taken_otherwise) {
        ++tally_.invalid_taken;
        outcome = "takes invalid";
        detail = json_text(data);
      }
    }
    return outcome;
  }

  // As the runner does: the tokens of the text, one after the other, and whether each is taken.
  bool takes_tokens(const std::shared_ptr<const Grammar>& grammar, const std::string& text, TokenMasks& masks) {
    GrammarState state(grammar);
    if (!options_.computes_masks) return state.accept(text);
    const auto tokens = tokenizer_.encode(text);
    if (!tokens.ok()) return false;
    for (const TokenId token : tokens.value()) {
      const double begin = now();
      const auto mask = masks.mask(state);
      const bool is_taken = state.accept(tokenizer_.piece(token));
      tally_.mask_times.push_back(now() - begin);
      if (!mask.ok()) {
        ++tally_.masks_failed;
        return is_taken;
      }
      if (mask.value()->allows(token) != is_taken) std::printf("DIFFERS: mask and state of %s\n", text.c_str());
      if (!is_taken) return false;
    }
    return true;
  }

  const Tokenizer& tokenizer_;
  std::shared_ptr<const TokenTrie> trie_;
  Options options_;
  Tally tally_;
};

Result<int> run_all(const std::string& folder, const std::filesystem::path& tokenizer_path, const Options& options) {
  const std::string config = contents(tokenizer_path.parent_path() / "tokenizer_config.json");
  TokenizerDescription description = TRY(describe_hugging_face_tokenizer(contents(tokenizer_path), config));
  const Tokenizer tokenizer = TRY(Tokenizer::create(std::move(description)));
  const auto trie = TRY(TokenTrie::of(tokenizer));
  std::printf("%zu tokens, %zu nodes\n", trie->vocabulary_size(), trie->nodes().size());
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json") && name.find(options.only) != std::string::npos) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  Runner runner(tokenizer, trie, options);
  for (const auto& path : paths) runner.run(path);
  runner.print();
  return runner.takes_invalid() ? 1 : 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  std::vector<std::string> paths;
  for (int index = 1; index < argument_count; ++index) {
    if (std::strcmp(arguments[index], "--masks") == 0) {
      options.computes_masks = true;
    } else if (std::strcmp(arguments[index], "--each") == 0) {
      options.prints_each = true;
    } else if (std::strcmp(arguments[index], "--only") == 0 && index + 1 < argument_count) {
      options.only = arguments[++index];
    } else {
      paths.emplace_back(arguments[index]);
    }
  }
  if (paths.size() != 2) {
    std::fprintf(stderr, "usage: bench_mask_bench DATA_FOLDER TOKENIZER.json [--masks] [--each] [--only TEXT]\n");
    return 2;
  }
  const auto result = run_all(paths[0], paths[1], options);
  if (!result.ok()) std::fprintf(stderr, "%s\n", std::string(result.error().text()).c_str());
  return result.ok() ? result.value() : 2;
}
