#include <deque>
#include <limits>
#include <utility>

#include "model/files/quoted.h"
#include "model/tokenizer/byte_alphabet.h"
#include "model/tokenizer/segmentation.h"
#include "model/tokenizer/token_map.h"

namespace ingot {

namespace {

// Which pairs of symbols merge: open addressing, the pair as one number.
class PairMap {
 public:
  void insert(std::int32_t left, std::int32_t right, MergedPair merged) {
    if (count_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[position_of(key_of(left, right))];
    if (slot.merged.id >= 0) return;
    slot = {key_of(left, right), merged};
    ++count_;
  }
  MergedPair find(std::int32_t left, std::int32_t right) const {
    return slots_[position_of(key_of(left, right))].merged;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    MergedPair merged;
  };

  static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t position_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t mixed = (key ^ key >> 29) * 0x9e3779b97f4a7c15u;
    std::size_t position = (mixed >> 32) & mask;
    while (slots_[position].merged.id >= 0 && slots_[position].key != key) position = (position + 1) & mask;
    return position;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.merged.id >= 0) slots_[position_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t count_ = 0;
};

class BytePair final : public Segmentation {
 public:
  explicit BytePair(const TokenizerDescription& description)
      : is_byte_level_(description.is_byte_level),
        ignores_merges_(description.ignores_merges),
        token_count_(static_cast<std::int32_t>(description.tokens.size())),
        fallback_(description) {
    for (std::int32_t id = 0; id < token_count_; ++id) {
      const auto index = static_cast<std::size_t>(id);
      if (is_made_from_text(description.types[index])) intern(description.tokens[index], id);
    }
    std::uint32_t rank = 0;
    for (const Merge& merge : description.merges) add_merge(merge, rank++);
    for (int byte = 0; byte < 256; ++byte) {
      const char character = static_cast<char>(byte);
      single_[static_cast<std::size_t>(byte)] = symbols_.find({&character, 1});
    }
  }

  Result<void> append_ids(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const override {
    if (ignores_merges_) {
      if (const std::int32_t id = symbols_.find(piece); id >= 0 && id < token_count_) {
        ids.push_back(id);
        return {};
      }
    }
    SymbolList& symbols = scratch.symbols;
    symbols.clear();
    for (std::size_t position = 0; position < piece.size();) {
      const std::size_t size = is_byte_level_ ? 1 : decode_utf8(piece, position).size;
      append_symbols(piece, position, size, symbols);
      position += size;
    }
    symbols.merge([&](const Symbol& left, const Symbol& right) {
      return left.id < 0 || right.id < 0 ? MergedPair{} : merges_.find(left.id, right.id);
    });
    Result<void> result;
    bool follows_unknown = false;
    symbols.for_each([&](const Symbol& symbol) {
      const bool is_token = symbol.id >= 0 && symbol.id < token_count_;
      if (is_token) {
        ids.push_back(symbol.id);
      } else if (auto spelled = append_parts(piece.substr(symbol.begin, symbol.size), follows_unknown, ids);
                 !spelled.ok()) {
        result = spelled;
      }
      follows_unknown = symbol.id < 0;
    });
    return result;
  }

 private:
  // The number of a symbol; one that is no token gets a number beyond them, because merges may pass through it. Nothing
  // for a text that bytes cannot spell: no text leads to it.
  std::int32_t intern(std::string_view text, std::int32_t id) {
    if (!is_byte_level_) {
      if (const std::int32_t known = symbols_.find(text); known >= 0) return known;
      return symbols_.insert(texts_.emplace_back(text), id);
    }
    std::optional<std::string> bytes = bytes_of_spelled(text);
    if (!bytes.has_value() || bytes->empty()) return -1;
    if (const std::int32_t known = symbols_.find(*bytes); known >= 0) return known;
    return symbols_.insert(texts_.emplace_back(std::move(*bytes)), id);
  }

  std::int32_t intern(std::string_view text) {
    const std::int32_t symbol = intern(text, token_count_ + passing_);
    if (symbol == token_count_ + passing_) ++passing_;
    return symbol;
  }

  void add_merge(const Merge& merge, std::uint32_t rank) {
    const std::int32_t left = intern(merge.left);
    const std::int32_t right = intern(merge.right);
    const std::int32_t merged = intern(merge.left + merge.right);
    if (left >= 0 && right >= 0 && merged >= 0) merges_.insert(left, right, {merged, rank});
  }

  void append_symbols(std::string_view piece, std::size_t position, std::size_t size, SymbolList& symbols) const {
    const std::string_view character = piece.substr(position, size);
    const std::int32_t id = size == 1 ? single_[static_cast<std::uint8_t>(character[0])] : symbols_.find(character);
    const auto begin = static_cast<std::uint32_t>(position);
    if (id >= 0 || !fallback_.covers(character)) return symbols.append(id, begin, static_cast<std::uint32_t>(size));
    for (std::uint32_t offset = 0; offset < size; ++offset) {
      symbols.append(fallback_.byte_token(character[offset]), begin + offset, 1);
    }
  }

  // A symbol that is no token, as the characters it was made of.
  Result<void> append_parts(std::string_view text, bool follows_unknown, std::vector<TokenId>& ids) const {
    for (std::size_t position = 0; position < text.size();) {
      const std::size_t size = is_byte_level_ ? 1 : decode_utf8(text, position).size;
      const std::string_view character = text.substr(position, size);
      const std::int32_t id = symbols_.find(character);
      if (id >= 0 && id < token_count_) {
        ids.push_back(id);
        follows_unknown = false;
      } else {
        TRY(fallback_.append_ids(character, follows_unknown, ids));
        follows_unknown = true;
      }
      position += size;
    }
    return {};
  }

  bool is_byte_level_, ignores_merges_;
  std::int32_t token_count_;
  std::int32_t passing_ = 0;       // symbols that are no tokens
  std::deque<std::string> texts_;  // what symbols_ points into
  TokenMap symbols_;
  std::array<std::int32_t, 256> single_{};
  PairMap merges_;
  FallbackTokens fallback_;
};

}  // namespace

Result<std::unique_ptr<const Segmentation>> create_byte_pair(const TokenizerDescription& description) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() / 8;
  if (description.merges.size() > most) {
    return Error::of(ErrorCode::unsupported, "tokenizer merges: expected at most ", most, ", found ",
                     description.merges.size());
  }
  return std::unique_ptr<const Segmentation>(std::make_unique<BytePair>(description));
}

}  // namespace ingot
