#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "os/memory/address_space_fixture.h"

namespace ingot::os {
namespace {

using namespace address_space_fixture;
using AddressSpaceModel = AddressSpaces;

// Several spaces, made by cloning, against a plain model of what each page shows and allows.
TEST_F(AddressSpaceModel, AgreesWithAPlainModelUnderRandomChanges) {
  enum class Kind { zeroes, image_private, image_shared };
  struct Page {
    Kind kind;
    Access access;
    std::uint64_t offset;
    // Written here, or before the space was cloned; a private page that was never written follows the image.
    std::optional<std::uint64_t> own;
  };
  struct Program {
    Owned<AddressSpace> space;
    std::map<std::uint64_t, Page> pages;
  };
  const VirtualAddress arena(64 * mib);
  const std::uint64_t arena_pages = 6 * mib / page_bytes;
  std::map<std::uint64_t, std::uint64_t> image_words;
  const Access rights[] = {Access::none, Access::read, read_write, Access::read | Access::execute};
  const auto failed_by = [](const auto& outcome, ErrorCode why) {
    return !outcome.ok() && outcome.error().code() == why;
  };
  const auto ran_out = [&](const auto& outcome) { return failed_by(outcome, ErrorCode::out_of_memory); };
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    RandomNumbers random(seed);
    flaky.one_in = 0;
    std::vector<std::unique_ptr<Program>> programs;
    programs.push_back(std::make_unique<Program>(Program{make_space(), {}}));
    flaky.one_in = seed % 2 == 0 ? 0 : 12;
    // Of the image's own pages, which all programs see.
    const auto any_page = [&](auto&& is_so) {
      return std::any_of(programs.begin(), programs.end(), [&](const auto& one) {
        return std::any_of(one->pages.begin(), one->pages.end(), [&](const auto& page) { return is_so(page.second); });
      });
    };
    const auto is_executed = [&] {
      return any_page(
          [](const Page& page) { return page.kind != Kind::zeroes && allows(page.access, Access::execute); });
    };
    const auto is_written = [&] {
      return any_page(
          [](const Page& page) { return page.kind == Kind::image_shared && allows(page.access, Access::write); });
    };
    for (int step = 0; step < 1500; ++step) {
      const std::size_t who = random.below(programs.size());
      Program& program = *programs[who];
      const bool coarse = random.below(3) == 0;
      const std::uint64_t first = coarse ? random.below(arena_pages / 512) * 512 : random.below(arena_pages);
      std::uint64_t count = coarse ? 512 * (1 + random.below(2)) : 1 + random.below(40);
      if (first + count > arena_pages) count = arena_pages - first;
      const VirtualAddress begin = arena + first * page_bytes;
      const std::uint64_t end = (begin + count * page_bytes).value();
      const auto from = program.pages.lower_bound(begin.value());
      const auto to = program.pages.lower_bound(end);
      const Access access = rights[random.below(4)];
      switch (random.below(13)) {
        case 0: {
          RegionRequest request;
          const Kind kind = static_cast<Kind>(random.below(3));
          request.object = kind == Kind::zeroes ? static_cast<MemoryObject*>(&anonymous) : &image;
          request.sharing = kind == Kind::image_shared ? Sharing::shared : Sharing::private_copy;
          request.bytes = count * page_bytes;
          request.object_offset = coarse ? 0 : random.below(64) * page_bytes;
          request.access = access;
          request.address = begin;
          const auto outcome = program.space->add(request);
          if (ran_out(outcome)) break;
          const bool becomes_both =
              kind != Kind::zeroes && ((allows(access, Access::execute) && is_written()) ||
                                       (kind == Kind::image_shared && allows(access, Access::write) && is_executed()));
          ASSERT_EQ(failed_by(outcome, ErrorCode::denied), from == to && becomes_both);
          if (becomes_both) break;
          ASSERT_EQ(outcome.ok(), from == to);
          for (std::uint64_t page = 0; from == to && page < count; ++page) {
            program.pages[(begin + page * page_bytes).value()] = {
                kind, access, request.object_offset + page * page_bytes, {}};
          }
          break;
        }
        case 1: {
          const auto outcome = program.space->remove(begin, count * page_bytes);
          if (ran_out(outcome)) break;  // and everything is as it was
          ASSERT_TRUE(outcome.ok());
          program.pages.erase(from, to);
          break;
        }
        case 2: {
          const bool covered = static_cast<std::uint64_t>(std::distance(from, to)) == count;
          const bool may_be_both = is_executed() || is_written();
          const auto outcome = program.space->protect(begin, count * page_bytes, access);
          if (ran_out(outcome)) break;
          if (failed_by(outcome, ErrorCode::denied)) {
            ASSERT_TRUE(covered && may_be_both);  // some may have changed
            for (auto page = from; page != to; ++page) {
              page->second.access = program.space->region_at(VirtualAddress(page->first))->access;
            }
            ASSERT_FALSE(is_executed() && is_written());
            break;
          }
          ASSERT_EQ(outcome.ok(), covered);
          for (auto page = from; covered && page != to; ++page) page->second.access = access;
          ASSERT_FALSE(is_executed() && is_written());
          break;
        }
        case 3:
          if (random.below(10) != 0) break;
          if (programs.size() < 3) {
            auto child = program.space->clone(nullptr);
            if (ran_out(child)) break;
            ASSERT_TRUE(child.ok()) << child.error().text();
            programs.push_back(std::make_unique<Program>(Program{std::move(child).value(), program.pages}));
          } else {
            programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(who));
          }
          break;
        case 4: {
          const auto outcome = image.invalidate(random.below(300) * page_bytes, random.below(600) * page_bytes);
          ASSERT_TRUE(outcome.ok() || ran_out(outcome));
          break;
        }
        case 5: {
          // A part of one region, to the lowest place there is; it goes back to where a page of the arena can be found.
          const auto region = program.space->region_at(begin);
          const bool is_one = region && region->begin + region->bytes >= begin + count * page_bytes;
          const auto moved = program.space->move(begin, count * page_bytes, count * page_bytes, arena + 1 * gib);
          if (ran_out(moved)) break;
          ASSERT_EQ(moved.ok(), is_one);
          if (!is_one) break;
          flaky.one_in = 0;
          const auto back = program.space->move(moved.value(), count * page_bytes, count * page_bytes, begin);
          ASSERT_TRUE(back.ok());
          flaky.one_in = seed % 2 == 0 ? 0 : 12;
          if (back.value() == begin) break;
          std::map<std::uint64_t, Page> elsewhere;
          for (auto page = from; page != to; ++page) {
            elsewhere[page->first - begin.value() + back.value().value()] = page->second;
          }
          program.pages.erase(from, to);
          program.pages.merge(elsewhere);
          break;
        }
        default:
          for (int probe = 0; probe < 12; ++probe) {
            const VirtualAddress address =
                arena + random.below(arena_pages) * page_bytes + random.below(512) / 511 * 4088;
            const Access asked = random.below(2) == 0 ? Access::read : Access::write;
            code = {};
            std::uint64_t* word = touch(*program.space, address, asked);
            if (word == nullptr && code == ErrorCode::out_of_memory) continue;
            const auto page = program.pages.find(address.rounded_down(page_bytes).value());
            ASSERT_EQ(word != nullptr, page != program.pages.end() && allows(page->second.access, asked));
            if (word == nullptr || address.page_offset() != 0) continue;
            Page& truth = page->second;
            std::uint64_t expected = truth.kind == Kind::zeroes ? 0 : image_words[truth.offset];
            if (truth.own) expected = *truth.own;
            ASSERT_EQ(*word, expected) << "seed " << seed << " step " << step << " page "
                                       << (address - arena) / page_bytes;
            if (asked == Access::read) continue;
            *word = random.next();
            if (truth.kind == Kind::image_shared) {
              image_words[truth.offset] = *word;
            } else {
              truth.own = *word;
            }
          }
      }
    }
    programs.clear();
    heap.trim();
    ASSERT_EQ(frames.statistics().free, free_at_start);
  }
}

}  // namespace
}  // namespace ingot::os
