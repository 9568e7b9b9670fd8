// Masks for whoever asks on a pipe: bench_mask_walk TOKENIZER.json, driven by run.py beside it.
// A line each: "schema JSON" begins a text of that schema, "again" another one, "token ID" goes on; "mask" asks for the
// bits of the mask, eight tokens a byte. Answers are "ok", "no TEXT", or "mask BYTES" followed by so many bytes.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "model/grammar/json_schema.h"
#include "model/grammar/token_masks.h"
#include "model/tokenizer/tokenizer.h"

namespace {

using namespace ingot;
using namespace ingot::grammar;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Walk {
 public:
  Walk(const Tokenizer& tokenizer, std::shared_ptr<const TokenTrie> trie)
      : tokenizer_(tokenizer), trie_(std::move(trie)) {}

  // Without white space: where it may stand is each one's choice. With time: which schemas are walked on must not
  // depend on who else computes.
  Result<void> begin(std::string_view schema) {
    grammar_ = TRY(compile_json_schema(schema, {.most_white_space = 0}, {.time = std::chrono::minutes(5)}));
    masks_.emplace(grammar_, trie_);
    state_.emplace(grammar_);
    return {};
  }

  void begin_again() { state_.emplace(grammar_); }

  bool take(TokenId token) { return state_->accept(tokenizer_.piece(token)); }

  Result<std::shared_ptr<const TokenMask>> mask() { return masks_->mask(*state_); }

 private:
  const Tokenizer& tokenizer_;
  std::shared_ptr<const TokenTrie> trie_;
  std::shared_ptr<const Grammar> grammar_;
  std::optional<TokenMasks> masks_;
  std::optional<GrammarState> state_;
};

void say(const Result<void>& result) {
  if (result.ok()) {
    std::puts("ok");
  } else {
    std::printf("no %s\n", std::string(result.error().text()).c_str());
  }
}

void answer(Walk& walk, std::string_view line) {
  if (line.starts_with("schema ")) return say(walk.begin(line.substr(7)));
  if (line == "again") {
    walk.begin_again();
    return say({});
  }
  if (line.starts_with("token ")) {
    const bool is_taken = walk.take(static_cast<TokenId>(std::stol(std::string(line.substr(6)))));
    return static_cast<void>(std::puts(is_taken ? "ok" : "no token that can follow"));
  }
  const auto mask = walk.mask();
  if (!mask.ok()) return say(Result<void>(mask.error()));
  const auto words = mask.value()->words();
  std::printf("mask %zu\n", words.size_bytes());
  std::fwrite(words.data(), 1, words.size_bytes(), stdout);
}

Result<void> serve(const std::filesystem::path& path) {
  const std::string config = contents(path.parent_path() / "tokenizer_config.json");
  TokenizerDescription description = TRY(describe_hugging_face_tokenizer(contents(path), config));
  const Tokenizer tokenizer = TRY(Tokenizer::create(std::move(description)));
  Walk walk(tokenizer, TRY(TokenTrie::of(tokenizer)));
  for (std::string line; std::getline(std::cin, line);) {
    answer(walk, line);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: bench_mask_walk TOKENIZER.json\n");
    return 2;
  }
  const auto served = serve(arguments[1]);
  if (served.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(served.error().text()).c_str());
  return 1;
}
