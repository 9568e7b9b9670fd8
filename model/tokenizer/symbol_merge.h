// Merging neighbours, best pair first: what byte-pair encoding and SentencePiece's variant of it share.
//
// The pieces form a linked list and a heap holds the pairs that may be merged, best priority first and leftmost among
// equals. A merge makes at most two new pairs, so n pieces take O(n log n); a pair whose pieces have changed since is
// recognised by its length when it is taken out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ingot {

struct Symbol {
  std::int32_t id;            // what the vocabulary calls it; -1: nothing
  std::uint32_t begin, size;  // in the text; size 0: merged into the one before
  std::uint32_t previous, next;
};

struct MergedPair {
  std::int32_t id = -1;
  std::uint32_t priority = 0;  // the least is merged first
};

class SymbolList {
 public:
  static constexpr std::uint32_t none = ~0u;

  void clear() { symbols_.clear(); }
  void append(std::int32_t id, std::uint32_t begin, std::uint32_t size) {
    const auto index = static_cast<std::uint32_t>(symbols_.size());
    if (index > 0) symbols_.back().next = index;
    symbols_.push_back({id, begin, size, index == 0 ? none : index - 1, none});
  }
  std::size_t size() const { return symbols_.size(); }

  // find(left, right) is a MergedPair, with id -1 where the two may not be merged.
  template <class Find>
  void merge(Find find) {
    heap_.clear();
    for (std::uint32_t left = 0; left + 1 < symbols_.size(); ++left) {
      if (const Candidate candidate = candidate_at(left, find); candidate.id >= 0) heap_.push_back(candidate);
    }
    std::make_heap(heap_.begin(), heap_.end());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Candidate best = heap_.back();
      heap_.pop_back();
      Symbol& left = symbols_[best.left];
      if (left.size == 0 || left.next == none || left.size + symbols_[left.next].size != best.size) continue;
      Symbol& right = symbols_[left.next];
      left.id = best.id;
      left.size += right.size;
      right.size = 0;
      left.next = right.next;
      if (left.next != none) symbols_[left.next].previous = best.left;
      if (left.previous != none) push(left.previous, find);
      push(best.left, find);
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t index = symbols_.empty() ? none : 0; index != none; index = symbols_[index].next) {
      visit(symbols_[index]);
    }
  }

 private:
  struct Candidate {
    std::uint32_t priority = 0, left = 0;
    std::uint32_t size = 0;
    std::int32_t id = -1;
    bool operator<(const Candidate& other) const {
      return priority != other.priority ? priority > other.priority : left > other.left;
    }
  };

  template <class Find>
  Candidate candidate_at(std::uint32_t index, Find& find) const {
    const Symbol& left = symbols_[index];
    const Symbol& right = symbols_[left.next];
    const MergedPair pair = find(left, right);
    return {pair.priority, index, left.size + right.size, pair.id};
  }
  template <class Find>
  void push(std::uint32_t index, Find& find) {
    if (symbols_[index].next == none) return;
    const Candidate candidate = candidate_at(index, find);
    if (candidate.id < 0) return;
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
  }

  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace ingot
