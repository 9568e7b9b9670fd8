#include "model/tokenizer/trie.h"

#include <algorithm>

#include "model/files/quoted.h"

namespace ingot {

Result<Trie> Trie::create(std::vector<Entry> entries) {
  for (const auto& [text, value] : entries) {
    if (text.empty() || text.size() > longest_text) {
      return Error::of(ErrorCode::unsupported, "token ", value, " ", Quoted{text}, ": expected 1 to ", longest_text,
                       " bytes, found ", text.size());
    }
  }
  return Trie(std::move(entries));
}

Trie::Trie(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end());
  // Breadth first, so that the children of a node lie side by side. A node stands for the sorted entries that share its
  // path, which is as long as its depth.
  struct Pending {
    std::size_t begin, end, depth;
  };
  std::vector<Pending> pending{{0, entries.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < pending.size(); ++node) {
    auto [begin, end, depth] = pending[node];
    if (begin < end && entries[begin].first.size() == depth) nodes_[node].value = entries[begin].second;
    while (begin < end && entries[begin].first.size() == depth) ++begin;
    nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
    while (begin < end) {
      const char label = entries[begin].first[depth];
      std::size_t next = begin;
      while (next < end && entries[next].first[depth] == label) ++next;
      Node child;
      child.label = static_cast<std::uint8_t>(label);
      if (node == 0) root_children_[child.label] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(child);
      ++nodes_[node].child_count;
      pending.push_back({begin, next, depth + 1});
      begin = next;
    }
  }
}

}  // namespace ingot
