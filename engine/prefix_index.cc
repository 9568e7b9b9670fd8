#include "engine/prefix_index.h"

#include <algorithm>
#include <utility>

#include "base/random.h"

namespace ingot {

// Every word goes through a bijection that depends on all before it and on the secret.
std::uint64_t PrefixIndex::hash_of(std::uint64_t salt, std::int32_t before,
                                   std::span<const std::int32_t> tokens) const {
  std::uint64_t hash = RandomNumbers(secret_ ^ salt).next();
  hash = RandomNumbers(hash ^ static_cast<std::uint32_t>(before)).next();
  for (const std::int32_t token : tokens) hash = RandomNumbers(hash ^ static_cast<std::uint32_t>(token)).next();
  return hash;
}

std::int32_t PrefixIndex::find_page(std::uint64_t salt, std::int32_t before,
                                    std::span<const std::int32_t> tokens) const {
  const auto [begin, end] = by_hash_.equal_range(hash_of(salt, before, tokens));
  for (auto at = begin; at != end; ++at) {
    const Known& candidate = known(at->second);
    const bool is_same =
        candidate.salt == salt && candidate.before == before && std::ranges::equal(candidate.tokens, tokens);
    if (is_same) return at->second;
  }
  return none;
}

std::vector<std::int32_t> PrefixIndex::find(std::uint64_t salt, std::span<const std::int32_t> tokens) const {
  std::vector<std::int32_t> pages;
  const auto length = static_cast<std::size_t>(page_length_);
  std::int32_t before = none;
  while (tokens.size() >= length) {
    before = find_page(salt, before, tokens.first(length));
    if (before == none) break;
    pages.push_back(before);
    tokens = tokens.subspan(length);
  }
  return pages;
}

std::int32_t PrefixIndex::add(std::uint64_t salt, std::optional<std::int32_t> before,
                              std::span<const std::int32_t> tokens, std::int32_t page) {
  const std::int32_t previous = before.value_or(none);
  if (const std::int32_t found = find_page(salt, previous, tokens); found != none) return found;
  if (pages_.size() <= static_cast<std::size_t>(page)) pages_.resize(static_cast<std::size_t>(page) + 1);
  Known& added = known(page);
  added = {.is_known = true,
           .hash = hash_of(salt, previous, tokens),
           .number = next_number_++,
           .salt = salt,
           .before = previous,
           .tokens = std::vector(tokens.begin(), tokens.end())};
  by_hash_.emplace(added.hash, page);
  ++changes_;
  return page;
}

bool PrefixIndex::knows(std::int32_t page) const {
  return static_cast<std::size_t>(page) < pages_.size() && known(page).is_known;
}

void PrefixIndex::let_go(std::int32_t page) {
  Known& last = known(page);
  last.earlier = latest_;
  last.later = none;
  (latest_ == none ? earliest_ : known(latest_).later) = page;
  latest_ = page;
  ++unused_;
  ++changes_;
}

void PrefixIndex::take_up(std::int32_t page) {
  Known& used = known(page);
  (used.earlier == none ? earliest_ : known(used.earlier).later) = used.later;
  (used.later == none ? latest_ : known(used.later).earlier) = used.earlier;
  --unused_;
  ++changes_;
}

std::optional<std::int32_t> PrefixIndex::give_up() {
  if (earliest_ == none) return std::nullopt;
  const std::int32_t page = earliest_;
  take_up(page);
  const auto [begin, end] = by_hash_.equal_range(known(page).hash);
  by_hash_.erase(std::find_if(begin, end, [page](const auto& entry) { return entry.second == page; }));
  known(page) = {};
  return page;
}

}  // namespace ingot
