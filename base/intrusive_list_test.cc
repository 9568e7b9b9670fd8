#include "base/intrusive_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <vector>

#include "base/random.h"

namespace ingot {
namespace {

struct Item : ListLink<struct ByAge>, ListLink<struct ByName> {
  int number = 0;
};
using AgeList = IntrusiveList<Item, struct ByAge>;
using NameList = IntrusiveList<Item, struct ByName>;

std::vector<int> numbers_of(AgeList& list) {
  std::vector<int> numbers;
  for (const Item& item : list) numbers.push_back(item.number);
  return numbers;
}

TEST(IntrusiveList, AnElementMayStandInOneListPerTag) {
  Item item;
  AgeList ages;
  NameList names;
  ages.push_back(item);
  names.push_back(item);
  EXPECT_EQ(ages.first(), &item);
  EXPECT_EQ(names.pop_front(), &item);
  EXPECT_EQ(ages.pop_back(), &item);
  EXPECT_TRUE(ages.is_empty());
  EXPECT_EQ(ages.pop_front(), nullptr);
}

TEST(IntrusiveList, DoesWhatAPlainListDoes) {
  RandomNumbers random(11);
  std::vector<std::unique_ptr<Item>> items;
  for (int i = 0; i < 20; ++i) {
    items.push_back(std::make_unique<Item>());
    items.back()->number = i;
  }
  AgeList list;
  std::list<int> model;
  for (int step = 0; step < 20000; ++step) {
    Item& item = *items[random.below(items.size())];
    const bool linked = static_cast<ListLink<struct ByAge>&>(item).is_linked();
    ASSERT_EQ(linked, std::find(model.begin(), model.end(), item.number) != model.end());
    switch (random.below(6)) {
      case 0:
        if (linked) break;
        list.push_back(item);
        model.push_back(item.number);
        break;
      case 1:
        if (linked) break;
        list.push_front(item);
        model.push_front(item.number);
        break;
      case 2:
        if (!linked) break;
        list.remove(item);
        model.remove(item.number);
        break;
      case 3:
        if (linked || list.is_empty()) break;
        list.insert_after(*list.first(), item);
        model.insert(std::next(model.begin()), item.number);
        break;
      case 4: {
        const Item* popped = list.pop_front();
        ASSERT_EQ(popped == nullptr, model.empty());
        if (popped == nullptr) break;
        EXPECT_EQ(popped->number, model.front());
        model.pop_front();
        break;
      }
      default: {
        const Item* popped = list.pop_back();
        ASSERT_EQ(popped == nullptr, model.empty());
        if (popped == nullptr) break;
        EXPECT_EQ(popped->number, model.back());
        model.pop_back();
      }
    }
    ASSERT_EQ(numbers_of(list), std::vector<int>(model.begin(), model.end()));
    ASSERT_EQ(list.count(), model.size());
    if (!list.is_empty()) {
      EXPECT_EQ(list.first()->number, model.front());
      EXPECT_EQ(list.last()->number, model.back());
      EXPECT_EQ(list.after(*list.last()), nullptr);
    }
  }
  while (list.pop_front() != nullptr) {
  }
}

TEST(IntrusiveListDeathTest, StopsAtMisuse) {
  EXPECT_DEATH(
      {
        AgeList list;
        Item item;
        list.push_back(item);
        list.push_back(item);
      },
      "");
  EXPECT_DEATH(
      {
        AgeList list;
        Item item;
        list.remove(item);
      },
      "");
  EXPECT_DEATH(
      {
        AgeList list;
        Item item;
        list.push_back(item);
      },
      "");
}

}  // namespace
}  // namespace ingot
