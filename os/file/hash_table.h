// HashTable: elements found by a hash of their key, in constant time however many there are. The links lie inside the
// elements, so joining and leaving cannot fail; without memory for more buckets, chains only grow longer.
//
//   struct Entry : HashLink<struct NameTag> { ... };
//   HashTable<Entry, struct NameTag> names(heap);
//   Entry* found = names.find(hash_of_text(name), [&](const Entry& it) { return it.name == name; });
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/memory/allocator.h"

namespace ingot::os {

// FNV-1a.
constexpr std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3;
  return hash;
}
// The lowest bits of an address say nothing.
inline std::uint64_t hash_of_address(const void* address) { return reinterpret_cast<std::uintptr_t>(address) >> 4; }

template <class Tag>
class HashLink {
 public:
  HashLink() = default;
  HashLink(const HashLink&) = delete;
  HashLink& operator=(const HashLink&) = delete;

 private:
  template <class, class>
  friend class HashTable;

  HashLink* next_ = nullptr;
  std::uint64_t hash_ = 0;
};

template <class Element, class Tag>
class HashTable {
 public:
  explicit HashTable(Allocator& heap) : heap_(heap) {}
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;
  ~HashTable() {
    if (count_ != 0) __builtin_trap();
    free_buckets(buckets_, bucket_count_);
  }

  std::size_t count() const { return count_; }

  // The one that matches among those of this hash; nullptr: none.
  template <class Matches>
  Element* find(std::uint64_t hash, Matches&& matches) {
    for (Link* link = bucket(hash); link != nullptr; link = link->next_) {
      Element& element = static_cast<Element&>(*link);
      if (link->hash_ == hash && matches(element)) return &element;
    }
    return nullptr;
  }
  // Precondition: it is in no table by this tag.
  void insert(Element& element, std::uint64_t hash) {
    if (count_ == bucket_count_) grow();
    Link& link = element;
    link.hash_ = hash;
    put(link);
    ++count_;
  }
  // Precondition: it is in this table.
  void remove(Element& element) {
    Link& link = element;
    Link** place = &bucket(link.hash_);
    while (*place != &link) place = &(*place)->next_;
    *place = link.next_;
    --count_;
  }
  // use(Element&) for each, in no order; it neither inserts nor removes.
  template <class Use>
  void visit(Use&& use) {
    for (std::size_t i = 0; i < bucket_count_; ++i) {
      for (Link* link = buckets_[i]; link != nullptr; link = link->next_) use(static_cast<Element&>(*link));
    }
  }
  // How many steps the longest search takes.
  std::size_t longest_chain() const {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < bucket_count_; ++i) {
      std::size_t length = 0;
      for (const Link* link = buckets_[i]; link != nullptr; link = link->next_) ++length;
      longest = std::max(longest, length);
    }
    return longest;
  }

 private:
  using Link = HashLink<Tag>;

  // By the upper bits of a product: keys that differ anywhere differ there.
  Link*& bucket(std::uint64_t hash) { return buckets_[(hash * 0x9e37'79b9'7f4a'7c15) >> 32 & (bucket_count_ - 1)]; }
  void put(Link& link) {
    Link*& first = bucket(link.hash_);
    link.next_ = first;
    first = &link;
  }
  void grow() {
    const std::size_t wanted = std::max<std::size_t>(16, bucket_count_ * 2);
    Result<void*> block = heap_.allocate(wanted * sizeof(Link*), alignof(Link*));
    if (!block.ok()) return;
    Link** const old = buckets_;
    const std::size_t old_count = bucket_count_;
    buckets_ = static_cast<Link**>(block.value());
    bucket_count_ = wanted;
    std::fill_n(buckets_, wanted, nullptr);
    for (std::size_t i = 0; i < old_count; ++i) {
      for (Link* link = old[i]; link != nullptr;) {
        Link* const next = link->next_;
        put(*link);
        link = next;
      }
    }
    free_buckets(old, old_count);
  }
  void free_buckets(Link** buckets, std::size_t count) {
    if (buckets != &alone_) heap_.free(static_cast<void*>(buckets), count * sizeof(Link*), alignof(Link*));
  }

  Allocator& heap_;
  Link* alone_ = nullptr;  // the only bucket of a table with one element: most directories are small
  Link** buckets_ = &alone_;
  std::size_t bucket_count_ = 1;
  std::size_t count_ = 0;
};

}  // namespace ingot::os
