// A doubly linked list whose links lie inside its elements: joining and leaving need no memory and cannot fail.
//
//   class Thread : public ListLink<struct ReadyTag> {};   // one base for each list it may be in at the same time
//   IntrusiveList<Thread, struct ReadyTag> ready;
#pragma once

#include <cstddef>

namespace ingot {

template <class Element, class Tag>
class IntrusiveList;

template <class Tag = void>
class ListLink {
 public:
  ListLink() = default;
  ListLink(const ListLink&) = delete;
  ListLink& operator=(const ListLink&) = delete;
  // Neighbours would keep pointing at what is gone: a bug of the owner, stopped where it happens.
  ~ListLink() {
    if (is_linked()) __builtin_trap();
  }

  bool is_linked() const { return next_ != nullptr; }

 private:
  template <class, class>
  friend class IntrusiveList;

  ListLink* next_ = nullptr;
  ListLink* previous_ = nullptr;
};

// It owns no element. It does not move, because its elements point at it.
template <class Element, class Tag = void>
class IntrusiveList {
 public:
  IntrusiveList() { head_.next_ = head_.previous_ = &head_; }
  ~IntrusiveList() {
    if (!is_empty()) __builtin_trap();
    head_.next_ = nullptr;
  }

  bool is_empty() const { return head_.next_ == &head_; }
  // Counts by walking.
  std::size_t count() const {
    std::size_t count = 0;
    for (const Link* link = head_.next_; link != &head_; link = link->next_) ++count;
    return count;
  }

  // nullptr when empty.
  Element* first() { return element_at(head_.next_); }
  Element* last() { return element_at(head_.previous_); }
  // nullptr after the last.
  Element* after(Element& element) { return element_at(link_of(element).next_); }
  // nullptr before the first.
  Element* before(Element& element) { return element_at(link_of(element).previous_); }

  // Precondition: `element` is in no list by this tag.
  void push_back(Element& element) { insert(link_of(element), *head_.previous_); }
  void push_front(Element& element) { insert(link_of(element), head_); }
  // Precondition: `position` is in this list.
  void insert_after(Element& position, Element& element) { insert(link_of(element), link_of(position)); }

  // nullptr when empty.
  Element* pop_front() { return pop(head_.next_); }
  Element* pop_back() { return pop(head_.previous_); }

  // Precondition: `element` is in this list.
  void remove(Element& element) { unlink(link_of(element)); }

  // Reads in order; whoever removes while walking uses first() and after().
  class Iterator {
   public:
    explicit Iterator(ListLink<Tag>* link) : link_(link) {}
    Element& operator*() const { return static_cast<Element&>(*link_); }
    Iterator& operator++() {
      link_ = next_of(*link_);
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    ListLink<Tag>* link_;
  };
  Iterator begin() { return Iterator(head_.next_); }
  Iterator end() { return Iterator(&head_); }

 private:
  using Link = ListLink<Tag>;

  static Link& link_of(Element& element) { return element; }
  static Link* next_of(Link& link) { return link.next_; }
  Element* element_at(Link* link) { return link == &head_ ? nullptr : static_cast<Element*>(link); }

  static void insert(Link& link, Link& before) {
    if (link.is_linked()) __builtin_trap();
    link.previous_ = &before;
    link.next_ = before.next_;
    before.next_->previous_ = &link;
    before.next_ = &link;
  }
  static void unlink(Link& link) {
    if (!link.is_linked()) __builtin_trap();
    link.previous_->next_ = link.next_;
    link.next_->previous_ = link.previous_;
    link.next_ = link.previous_ = nullptr;
  }
  Element* pop(Link* link) {
    Element* element = element_at(link);
    if (element != nullptr) unlink(*link);
    return element;
  }

  Link head_;
};

}  // namespace ingot
