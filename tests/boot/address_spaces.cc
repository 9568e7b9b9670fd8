// A program's memory on real page tables: pages appear when they are touched, large ones first; stacks grow; what is
// not allowed fails as an error; copies are made at the first write; threads each see their own space.
//
// boot-test: success
// boot-test: expect demand: zeroes, 1 small page
// boot-test: expect large pages: 3 had, 0 missed
// boot-test: expect stack: grew by 8 pages, stopped at its guard
// boot-test: expect rights: refused without, granted with, content kept
// boot-test: expect wrong addresses: all refused
// boot-test: expect copy-on-write: parent and child differ, 1 copy
// boot-test: expect threads: each saw its own memory
#include "os/boot/kernel.h"
#include "os/memory/user_memory.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr Access read_write = Access::read | Access::write;

void expect(bool holds, std::string_view what) {
  if (!holds) panic("expected ", what, ", found otherwise");
}
template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic(result.error());
  return std::move(result).value();
}

std::uint64_t load(VirtualAddress address) {
  std::uint64_t value = ~std::uint64_t{0};
  require(copy_from_user(&value, address, sizeof(value)));
  return value;
}
void store(VirtualAddress address, std::uint64_t value) { require(copy_to_user(address, &value, sizeof(value))); }
bool refuses(VirtualAddress address) {
  std::uint64_t value = 0;
  return !copy_from_user(&value, address, sizeof(value)).ok() && !copy_to_user(address, &value, sizeof(value)).ok();
}

struct Test {
  Kernel& kernel;
  AnonymousMemory anonymous;
  Owned<AddressSpace> space;

  VirtualAddress add(std::uint64_t bytes, Access access = read_write, RegionPurpose purpose = RegionPurpose::general,
                     std::uint64_t guard_bytes = 0) {
    RegionRequest request;
    request.object = &anonymous;
    request.bytes = bytes;
    request.access = access;
    request.purpose = purpose;
    request.guard_bytes = guard_bytes;
    return require(space->add(request));
  }
  const AddressSpaceStatistics& statistics() const { return space->statistics(); }
};

void touch_pages(Test& test) {
  const VirtualAddress small = test.add(4 * page_bytes);
  FrameSource& frames = test.kernel.memory->frames();
  const FrameNumber used = require(frames.allocate(page_order));  // the next page was somebody else's before
  __builtin_memset(test.kernel.memory->window().at<char>(used), 0xff, page_bytes);
  frames.release(used, page_order);
  expect(load(small + page_bytes) == 0, "a fresh page of zeroes");
  test.kernel.log.information("demand: zeroes, ", test.statistics().small_pages, " small page");
  const VirtualAddress large = test.add(3 * large_page_bytes);
  for (int i = 0; i < 3; ++i) store(large + i * large_page_bytes + 4096, i);
  test.kernel.log.information("large pages: ", test.statistics().large_pages, " had, ",
                              test.statistics().large_page_misses, " missed");
  require(test.space->remove(large + large_page_bytes, page_bytes));  // splits one
  expect(load(large + 2 * large_page_bytes + 4096) == 2 && refuses(large + large_page_bytes), "a hole, and the rest");
  // Across two pages, one of which is absent: a copy of both happens wholly.
  char text[] = "across", copied[sizeof(text)] = {};
  require(copy_to_user(small + 2 * page_bytes - 3, text, sizeof(text)));
  require(copy_from_user(copied, small + 2 * page_bytes - 3, sizeof(text)));
  expect(std::string_view(copied) == "across", "the text that was stored");
  // Up to the byte that is not there, though it lies within a word.
  const std::uint64_t begin = (large + large_page_bytes - 29).value();
  char many[64] = {};
  expect(arch::copy_user(reinterpret_cast<void*>(begin), many, sizeof(many)) == 64 - 29, "all bytes before the hole");
}

void grow_stack(Test& test) {
  const VirtualAddress stack = test.add(64 * page_bytes, read_write, RegionPurpose::stack, page_bytes);
  const std::uint64_t before = test.statistics().small_pages;
  for (int page = 1; page <= 8; ++page) store(stack + (64 - page) * page_bytes, page);
  expect(refuses(stack + page_bytes - 8), "a guard page");
  test.kernel.log.information("stack: grew by ", test.statistics().small_pages - before,
                              " pages, stopped at its guard");
}

void change_rights(Test& test) {
  const VirtualAddress place = test.add(large_page_bytes, Access::none, RegionPurpose::reservation);
  expect(refuses(place), "no access to a reservation");
  require(test.space->protect(place, page_bytes, read_write));
  store(place, 77);
  expect(refuses(place + page_bytes), "no access to the rest");
  require(test.space->protect(place, page_bytes, Access::none));
  expect(refuses(place), "no access again");
  require(test.space->protect(place, page_bytes, Access::read));
  const std::uint64_t one = 1;
  expect(load(place) == 77 && !copy_to_user(place, &one, 8).ok(), "the old content, read-only");
  test.kernel.log.information("rights: refused without, granted with, content kept");
  expect(refuses(VirtualAddress(0)) && refuses(VirtualAddress(0x123456789000)), "wild addresses refused");
  expect(refuses(user_memory_end - 4) && refuses(VirtualAddress(reinterpret_cast<std::uint64_t>(&one))),
         "addresses of the kernel refused");
  test.kernel.log.information("wrong addresses: all refused");
}

void copy_on_write(Test& test) {
  const VirtualAddress place = test.add(page_bytes);
  store(place, 1);
  const Owned<AddressSpace> child = require(test.space->clone(&test.kernel.memory->table()));
  use_address_space(child.get());
  expect(load(place) == 1, "the parent's content");
  store(place, 2);
  use_address_space(test.space.get());
  expect(load(place) == 1, "no trace of the child's write");
  store(place, 3);
  use_address_space(child.get());
  expect(load(place) == 2, "no trace of the parent's write");
  use_address_space(test.space.get());
  test.kernel.log.information("copy-on-write: parent and child differ, ",
                              child->statistics().copies + test.statistics().copies, " copy");
}

struct Everybody {
  AddressSpace* space;
  VirtualAddress place;
  int seen = 0;
};

void use_other_space(Everybody& shared) {
  use_address_space(shared.space);
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    store(shared.place, 1000 + turn);
    current_scheduler().yield();
    if (load(shared.place) == 1000 + turn) ++shared.seen;
  }
  use_address_space(nullptr);
}

void switch_threads(Test& test) {
  const VirtualAddress place = test.add(page_bytes);
  store(place, 5);
  const Owned<AddressSpace> other = require(test.space->clone(&test.kernel.memory->table()));
  Everybody shared{other.get(), place};
  KernelThread thread = require(spawn(test.kernel, "other", use_other_space, shared));
  int seen = 0;
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    store(place, turn);
    current_scheduler().yield();
    if (load(place) == turn) ++seen;
  }
  thread.join();
  if (seen == 10 && shared.seen == 10) test.kernel.log.information("threads: each saw its own memory");
}

}  // namespace

void run_payload(Kernel& kernel) {
  KernelMemory& memory = *kernel.memory;
  Test test{kernel,
            {memory.frames(), memory.window()},
            require(AddressSpace::create(memory.services(), &memory.table(), VirtualAddress(large_page_bytes),
                                         user_memory_end))};
  use_address_space(test.space.get());
  touch_pages(test);
  grow_stack(test);
  change_rights(test);
  copy_on_write(test);
  switch_threads(test);
  use_address_space(nullptr);
}

}  // namespace ingot::os
