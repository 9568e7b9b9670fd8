// What a mask costs against trying every token: bench_grammar_masks VOCABULARY.gguf...
// The vocabularies' tokens together, 128k of them at the most, on one thread. Walks take tokens that the mask allows,
// drawn from a seed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/files/gguf.h"
#include "model/grammar/gbnf.h"
#include "model/grammar/json_schema.h"
#include "model/grammar/token_masks.h"
#include "model/tokenizer/tokenizer.h"

namespace {

using namespace ingot;
using namespace ingot::grammar;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_tokens = 128 * 1024;
constexpr int walks = 20, steps = 100;

Result<std::vector<std::string>> read_pieces(int count, char** paths) {
  std::unordered_set<std::string> known;
  std::vector<std::string> pieces;
  for (int index = 0; index < count; ++index) {
    const GgufFile file = TRY(GgufFile::open(paths[index]));
    TokenizerDescription description = TRY(describe_gguf_tokenizer(file.metadata()));
    const Tokenizer tokenizer = TRY(Tokenizer::create(std::move(description)));
    for (TokenId id = 0; id < tokenizer.vocabulary_size() && pieces.size() < most_tokens; ++id) {
      std::string piece(tokenizer.is_special(id) ? "" : tokenizer.piece(id));
      if (!piece.empty() && known.insert(piece).second) pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

void measure(const char* name, const std::shared_ptr<const Grammar>& grammar, const std::vector<std::string>& pieces,
             const std::shared_ptr<const TokenTrie>& trie) {
  std::mt19937 random(1);
  TokenMasks masks(grammar, trie);
  std::vector<double> times;
  double slow = 0;
  int tried = 0;
  for (int walk = 0; walk < walks; ++walk) {
    GrammarState state(grammar);
    for (int step = 0; step < steps; ++step) {
      const auto begin = Clock::now();
      const auto made = masks.mask(state);
      times.push_back(microseconds(Clock::now() - begin));
      if (!made.ok()) return static_cast<void>(std::printf("%s: %s\n", name, std::string(made.error().text()).c_str()));
      const auto& mask = made.value();
      std::vector<TokenId> allowed;
      for (std::size_t id = 0; id < pieces.size(); ++id) {
        if (mask->allows(static_cast<TokenId>(id))) allowed.push_back(static_cast<TokenId>(id));
      }
      if (allowed.empty()) break;
      if (step % 25 == 3 && walk < 4) {
        const auto slow_begin = Clock::now();
        std::size_t accepted = 0;
        for (const std::string& piece : pieces) accepted += GrammarState(state).accept(piece) ? 1 : 0;
        slow += microseconds(Clock::now() - slow_begin);
        ++tried;
        if (accepted != allowed.size()) std::printf("%s: DIFFERS: %zu and %zu\n", name, accepted, allowed.size());
      }
      if (!state.accept(pieces[static_cast<std::size_t>(allowed[random() % allowed.size()])])) return;
    }
  }
  double sum = 0;
  for (const double time : times) sum += time;
  std::ranges::sort(times);
  const double mean = sum / static_cast<double>(times.size());
  std::printf(
      "%-28s %6zu masks  mean %8.1f us  median %7.1f  99%% %8.1f  most %8.1f  found %zu, inner parts %zu  x%.0f\n",
      name, times.size(), mean, times[times.size() / 2], times[times.size() * 99 / 100], times.back(),
      masks.counts().found, masks.counts().inner, tried == 0 ? 0 : slow / tried / mean);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto pieces = read_pieces(argument_count - 1, arguments + 1);
  if (!pieces.ok() || pieces.value().empty()) {
    std::fprintf(stderr, "usage: bench_grammar_masks VOCABULARY.gguf...\n");
    return 2;
  }
  const std::vector<std::string_view> views(pieces.value().begin(), pieces.value().end());
  const auto begin = Clock::now();
  const auto trie = TokenTrie::create(views, {});
  std::printf("%zu tokens, %zu nodes, built in %.1f ms\n", views.size(), trie.value()->nodes().size(),
              microseconds(Clock::now() - begin) / 1000);
  const std::pair<const char*, const char*> schemas[] = {
      {"any JSON", "true"},
      {"string", R"({"type": "string"})"},
      {"string, maxLength 60", R"({"type": "string", "maxLength": 60})"},
      {"string, pattern", R"({"type": "string", "pattern": "^[A-Z][a-z]+( [A-Z][a-z]+)*$"})"},
      {"object",
       R"({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0,
          "maximum": 150}, "mail": {"type": "string", "format": "email"}, "tags": {"type": "array", "items": {"type": "string",
          "maxLength": 20}, "maxItems": 5}, "kind": {"enum": ["one", "two", "three"]}}, "required": ["name", "age", "kind"],
          "additionalProperties": false})"},
      {"open object", R"({"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "number"}}})"},
  };
  for (const auto& [name, schema] : schemas) {
    const auto compile_begin = Clock::now();
    const auto grammar = compile_json_schema(schema);
    const double compiled = microseconds(Clock::now() - compile_begin);
    if (!grammar.ok()) {
      std::printf("%s: %s\n", name, std::string(grammar.error().text()).c_str());
      continue;
    }
    std::printf("compiled in %.0f us, %zu bytes: ", compiled, grammar.value()->size_in_bytes());
    measure(name, grammar.value(), pieces.value(), trie.value());
  }
  return 0;
}
