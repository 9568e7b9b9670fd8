// For tests: grammars drawn at random, which say themselves what they mean: as GBNF, and by looking for all ways in
// which a text satisfies them.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ingot::grammar {

class RandomGrammar {
 public:
  explicit RandomGrammar(std::uint32_t seed) : random_(seed) {
    rules_.resize(1 + draw(4));
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) rules_[rule] = make(rule, 0, false);
  }

  std::string gbnf() const {
    std::string text;
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) text += name(rule) + " ::= " + print(rules_[rule]) + "\n";
    return text;
  }

  bool takes(std::string_view text) const {
    text_ = text;
    ends_.clear();
    return ends_of(rules_[0], 0).contains(text.size());
  }

  std::uint32_t draw(std::uint32_t limit) { return random_() % limit; }

 private:
  enum class Kind : std::uint8_t { text, one_of, sequence, alternatives, repeat, rule };
  struct Node {
    Kind kind = Kind::text;
    std::string text;
    std::vector<Node> children;
    int least = 0, most = 0;  // -1: without end
    std::size_t rule = 0;
  };

  // Rules call later ones anywhere, and earlier ones and themselves where something was read before.
  Node make(std::size_t rule, int depth, bool has_read) {
    Node node;
    const std::uint32_t kind = depth > 3 ? draw(2) : draw(8);
    if (kind == 0) {
      node.text = std::string(1 + draw(2), static_cast<char>('a' + draw(3)));
    } else if (kind == 1) {
      node.kind = Kind::one_of;
      node.text = draw(2) == 0 ? "ab" : "bc";
    } else if (kind <= 3) {
      node.kind = Kind::sequence;
      const std::uint32_t count = 1 + draw(3);
      for (std::uint32_t index = 0; index < count; ++index) {
        node.children.push_back(make(rule, depth + 1, has_read));
        has_read = has_read || (node.children.back().kind == Kind::text || node.children.back().kind == Kind::one_of);
      }
    } else if (kind <= 4) {
      node.kind = Kind::alternatives;
      const std::uint32_t count = 2 + draw(2);
      for (std::uint32_t index = 0; index < count; ++index) node.children.push_back(make(rule, depth + 1, has_read));
    } else if (kind <= 6) {
      node.kind = Kind::repeat;
      node.least = static_cast<int>(draw(4));
      node.most = draw(3) == 0 ? -1 : node.least + static_cast<int>(draw(7));
      if (node.most == 0) node.most = 1;
      node.children.push_back(make(rule, depth + 1, has_read));
    } else {
      const std::size_t first = has_read ? 0 : rule + 1;
      if (first >= rules_.size()) return make(rule, 4, has_read);
      node.kind = Kind::rule;
      node.rule = first + draw(static_cast<std::uint32_t>(rules_.size() - first));
    }
    return node;
  }

  static std::string name(std::size_t rule) { return rule == 0 ? "root" : "rule-" + std::to_string(rule); }

  static std::string print(const Node& node) {
    switch (node.kind) {
      case Kind::text: return '"' + node.text + '"';
      case Kind::one_of: return '[' + node.text + ']';
      case Kind::rule: return name(node.rule);
      case Kind::repeat:
        return '(' + print(node.children[0]) + "){" + std::to_string(node.least) + ',' +
               (node.most < 0 ? "" : std::to_string(node.most)) + '}';
      default: break;
    }
    std::string text;
    for (const Node& child : node.children) {
      if (!text.empty()) text += node.kind == Kind::sequence ? " " : " | ";
      text += '(' + print(child) + ')';
    }
    return text;
  }

  using Ends = std::set<std::size_t>;

  const Ends& ends_of(const Node& node, std::size_t begin) const {
    const auto key = std::pair(&node, begin);
    if (const auto found = ends_.find(key); found != ends_.end()) return found->second;
    ends_[key] = {};  // a rule that calls itself here has read nothing: no new end comes from that
    Ends ends = find_ends(node, begin);
    return ends_[key] = std::move(ends);
  }

  Ends find_ends(const Node& node, std::size_t begin) const {
    switch (node.kind) {
      case Kind::text: return text_.substr(begin).starts_with(node.text) ? Ends{begin + node.text.size()} : Ends{};
      case Kind::one_of: {
        const bool is_in = begin < text_.size() && node.text.find(text_[begin]) != std::string::npos;
        return is_in ? Ends{begin + 1} : Ends{};
      }
      case Kind::rule: return ends_of(rules_[node.rule], begin);
      case Kind::alternatives: {
        Ends ends;
        for (const Node& child : node.children) ends.merge(Ends(ends_of(child, begin)));
        return ends;
      }
      case Kind::sequence: {
        Ends ends{begin};
        for (const Node& child : node.children) ends = after(child, ends);
        return ends;
      }
      case Kind::repeat: {
        Ends ends = node.least == 0 ? Ends{begin} : Ends{};
        Ends now{begin};
        const int rounds = node.most >= 0 ? node.most : node.least + static_cast<int>(text_.size()) + 1;
        for (int round = 1; round <= rounds && !now.empty(); ++round) {
          now = after(node.children[0], now);
          if (round >= node.least) ends.insert(now.begin(), now.end());
        }
        return ends;
      }
    }
    return {};
  }

  Ends after(const Node& node, const Ends& begins) const {
    Ends ends;
    for (const std::size_t begin : begins) ends.merge(Ends(ends_of(node, begin)));
    return ends;
  }

  std::mt19937 random_;
  std::vector<Node> rules_;
  mutable std::string_view text_;
  mutable std::map<std::pair<const Node*, std::size_t>, Ends> ends_;
};

}  // namespace ingot::grammar
