// Texts in a tree of bytes, to find all of them that begin at a place in one walk.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ingot {

class Trie {
 public:
  static constexpr std::uint32_t root = 0;
  static constexpr std::uint32_t no_node = 0;  // no node has the root as a child
  static constexpr std::int32_t no_value = -1;
  // A walk is as long as the longest text, at every place of what is searched: without a bound, two long texts would
  // make a search quadratic.
  static constexpr std::size_t longest_text = 1024;

  Trie() : Trie(std::vector<Entry>()) {}
  // Of equal texts the least value counts. Fails on an empty text and on one that is too long.
  using Entry = std::pair<std::string_view, std::int32_t>;
  static Result<Trie> create(std::vector<Entry> entries);

  std::uint32_t child(std::uint32_t node, char label) const {
    const auto byte = static_cast<std::uint8_t>(label);
    if (node == root) return root_children_[byte];
    std::uint32_t low = nodes_[node].first_child;
    std::uint32_t high = low + nodes_[node].child_count;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (nodes_[middle].label == byte) return middle;
      if (nodes_[middle].label < byte) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return no_node;
  }
  std::int32_t value(std::uint32_t node) const { return nodes_[node].value; }

  // From a node, along the text; the root for a path that does not exist and for none.
  std::uint32_t walk(std::uint32_t node, std::string_view text) const {
    for (char label : text) {
      node = child(node, label);
      if (node == no_node) return no_node;
    }
    return node;
  }

 private:
  struct Node {
    std::uint32_t first_child = 0;
    std::uint16_t child_count = 0;
    std::uint8_t label = 0;
    std::int32_t value = no_value;
  };

  explicit Trie(std::vector<Entry> entries);

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> root_children_{};
};

}  // namespace ingot
