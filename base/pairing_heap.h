// PairingHeap: the first of many in an order, found at once; joining is constant, leaving logarithmic on average
// (Fredman, Sedgewick, Sleator, Tarjan 1986). The links lie inside the elements: neither needs memory.
//
//   class Timer : public HeapNode {};
//   PairingHeap<Timer, Earlier> timers;   // Earlier()(left, right): left comes first
#pragma once

#include <utility>

namespace ingot {

class HeapNode {
 public:
  HeapNode() = default;
  HeapNode(const HeapNode&) = delete;
  HeapNode& operator=(const HeapNode&) = delete;
  // Others would keep pointing at what is gone: a bug of the owner, stopped where it happens.
  ~HeapNode() {
    if (is_in_heap()) __builtin_trap();
  }

  bool is_in_heap() const { return previous_ != nullptr; }

 private:
  template <class, class>
  friend class PairingHeap;

  HeapNode* child_ = nullptr;
  HeapNode* next_ = nullptr;      // sibling
  HeapNode* previous_ = nullptr;  // sibling, or the parent of a first child; the first of all: itself
};

template <class Element, class Before>
class PairingHeap {
 public:
  // nullptr when empty.
  Element* first() const { return static_cast<Element*>(first_); }

  // Precondition: it is in no heap.
  void insert(Element& element) {
    HeapNode& node = element;
    if (node.is_in_heap()) __builtin_trap();
    set_first(meld(first_, &node));
  }
  // Precondition: it is in this heap.
  void remove(Element& element) {
    HeapNode& node = element;
    if (&node == first_) {
      set_first(meld_siblings(node.child_));
    } else {
      HeapNode*& link = node.previous_->child_ == &node ? node.previous_->child_ : node.previous_->next_;
      link = node.next_;
      if (node.next_ != nullptr) node.next_->previous_ = node.previous_;
      set_first(meld(first_, meld_siblings(node.child_)));
    }
    node.child_ = node.next_ = node.previous_ = nullptr;
  }

 private:
  void set_first(HeapNode* node) {
    first_ = node;
    if (node != nullptr) node->previous_ = node;
  }
  // Of two heaps the later root becomes the first child of the earlier one.
  static HeapNode* meld(HeapNode* left, HeapNode* right) {
    if (left == nullptr) return right;
    if (right == nullptr) return left;
    if (Before()(static_cast<Element&>(*right), static_cast<Element&>(*left))) std::swap(left, right);
    right->next_ = left->child_;
    if (left->child_ != nullptr) left->child_->previous_ = right;
    right->previous_ = left;
    left->child_ = right;
    return left;
  }
  // The children of a removed root: in pairs from left to right, then the pairs from right to left. The bounds need
  // both.
  static HeapNode* meld_siblings(HeapNode* first) {
    HeapNode* pairs = nullptr;
    while (first != nullptr) {
      HeapNode* second = first->next_;
      HeapNode* rest = second != nullptr ? second->next_ : nullptr;
      first->next_ = first->previous_ = nullptr;
      if (second != nullptr) second->next_ = second->previous_ = nullptr;
      HeapNode* pair = meld(first, second);
      pair->next_ = pairs;
      pairs = pair;
      first = rest;
    }
    HeapNode* whole = nullptr;
    while (pairs != nullptr) {
      HeapNode* pair = std::exchange(pairs, pairs->next_);
      pair->next_ = nullptr;
      whole = meld(whole, pair);
    }
    return whole;
  }

  HeapNode* first_ = nullptr;
};

}  // namespace ingot
