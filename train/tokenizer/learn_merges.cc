#include "train/tokenizer/learn_merges.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <utility>

#include "model/files/quoted.h"

namespace ingot {

namespace {

class MergeLearner {
 public:
  MergeLearner(std::span<const WordCount> words, const MergeLimits& limits) : words_(words), limits_(limits) {
    for (int byte = 0; byte < 256; ++byte) add_token(std::string(1, static_cast<char>(byte)));
    for (const std::string& bytes : limits.kept_out) ids_.emplace(bytes, no_token);
  }

  Result<void> place_symbols() {
    std::uint64_t size = 0;
    for (const WordCount& word : words_) size += word.text.size();
    if (size >= none) {
      return Error::of(ErrorCode::overflow, "text: expected distinct words of less than ", none, " bytes, found ",
                       size);
    }
    symbols_.reserve(size);
    for (std::uint32_t index = 0; index < words_.size(); ++index) place_word(index);
    for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) push(pair);
    return {};
  }

  LearnedMerges run(const std::function<void(std::uint64_t)>& progress) {
    while (result_.tokens.size() < limits_.tokens && !queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const std::uint64_t count = pairs_[best.pair].count;
      if (best.count != count) {
        // Counts that fall are noticed here; one that rose has been pushed again.
        if (best.count > count && count > 0) push(best.pair);
        continue;
      }
      if (!merge(best)) continue;
      if (progress) progress(result_.tokens.size());
    }
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t none = ~0u;

  // A token in a word; neighbours are linked.
  struct SymbolInWord {
    TokenId id;  // no_token: merged into the one before
    std::uint32_t previous, next;
    std::uint32_t word;
  };

  struct Pair {
    TokenId left, right;
    std::uint64_t count = 0;
    std::vector<std::uint32_t> places = {};  // of the left symbol; some may no longer hold
    bool is_changed = false;                 // its count rose in the merge now under way
  };

  struct Candidate {
    std::uint64_t count;
    TokenId left, right;
    std::uint32_t pair;
    // Whether the other is merged first.
    bool operator<(const Candidate& other) const {
      if (count != other.count) return count < other.count;
      return std::pair(left, right) > std::pair(other.left, other.right);
    }
  };

  TokenId add_token(std::string bytes) {
    const auto id = static_cast<TokenId>(result_.tokens.size());
    ids_.emplace(bytes, id);
    result_.tokens.push_back(std::move(bytes));
    return id;
  }

  void place_word(std::uint32_t index) {
    const std::string_view text = words_[index].text;
    const auto first = static_cast<std::uint32_t>(symbols_.size());
    const auto last = static_cast<std::uint32_t>(first + text.size() - 1);
    result_.text_tokens += words_[index].count * text.size();
    for (std::uint32_t place = first; char byte : text) {
      symbols_.push_back({static_cast<std::uint8_t>(byte), place == first ? none : place - 1,
                          place == last ? none : place + 1, index});
      if (place > first) add_place(place - 1);
      ++place;
    }
  }

  std::uint32_t pair_of(TokenId left, TokenId right) {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
    const auto [found, is_new] = pair_indices_.emplace(key, static_cast<std::uint32_t>(pairs_.size()));
    if (is_new) pairs_.push_back({left, right});
    return found->second;
  }

  // Precondition: the symbol at this place has a next one.
  void add_place(std::uint32_t place) {
    const SymbolInWord& symbol = symbols_[place];
    const std::uint32_t index = pair_of(symbol.id, symbols_[symbol.next].id);
    Pair& pair = pairs_[index];
    pair.count += words_[symbol.word].count;
    pair.places.push_back(place);
    if (pair.is_changed) return;
    pair.is_changed = true;
    changed_.push_back(index);
  }

  void remove_place(std::uint32_t place) {
    const SymbolInWord& symbol = symbols_[place];
    pairs_[pair_of(symbol.id, symbols_[symbol.next].id)].count -= words_[symbol.word].count;
  }

  void push(std::uint32_t index) {
    Pair& pair = pairs_[index];
    pair.is_changed = false;
    if (pair.count > 0) queue_.push({pair.count, pair.left, pair.right, index});
  }

  // False for a pair that may not become a token.
  bool merge(const Candidate& pair) {
    std::string bytes = result_.tokens[static_cast<std::size_t>(pair.left)];
    bytes += result_.tokens[static_cast<std::size_t>(pair.right)];
    if (bytes.size() > limits_.longest_token) return false;
    const auto known = ids_.find(bytes);
    if (known != ids_.end() && known->second == no_token) return false;
    const TokenId id = known != ids_.end() ? known->second : add_token(std::move(bytes));
    result_.merges.push_back({pair.left, pair.right});

    std::vector<std::uint32_t> places = std::exchange(pairs_[pair.pair].places, {});
    // From left to right, because the left one of two that overlap is merged. Almost always they are in order.
    if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
    changed_.clear();
    for (const std::uint32_t place : places) merge_at(place, pair, id);
    for (const std::uint32_t index : changed_) push(index);
    return true;
  }

  void merge_at(std::uint32_t place, const Candidate& pair, TokenId id) {
    SymbolInWord& left = symbols_[place];
    if (left.id != pair.left || left.next == none) return;
    SymbolInWord& right = symbols_[left.next];
    if (right.id != pair.right) return;
    if (left.previous != none) remove_place(left.previous);
    if (right.next != none) remove_place(left.next);
    remove_place(place);
    left.id = id;
    right.id = no_token;
    left.next = right.next;
    if (left.next != none) symbols_[left.next].previous = place;
    if (left.previous != none) add_place(left.previous);
    if (left.next != none) add_place(place);
    result_.text_tokens -= words_[left.word].count;
  }

  std::span<const WordCount> words_;
  const MergeLimits& limits_;
  std::vector<SymbolInWord> symbols_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, std::uint32_t> pair_indices_;
  std::unordered_map<std::string, TokenId> ids_;  // by bytes; no_token: kept out
  std::priority_queue<Candidate> queue_;
  std::vector<std::uint32_t> changed_;
  LearnedMerges result_;
};

}  // namespace

Result<LearnedMerges> learn_merges(std::span<const WordCount> words, const MergeLimits& limits,
                                   const std::function<void(std::uint64_t)>& progress) {
  for (const WordCount& word : words) {
    if (word.text.empty() || word.count == 0) {
      return Error::of(ErrorCode::invalid_argument, "words: expected texts that occur, found ", Quoted{word.text}, ", ",
                       word.count, " times");
    }
  }
  MergeLearner learner(words, limits);
  TRY(learner.place_symbols());
  return learner.run(progress);
}

}  // namespace ingot
