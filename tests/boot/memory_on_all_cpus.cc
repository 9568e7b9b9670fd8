// Memory used by all CPUs at once: blocks freed elsewhere than they were taken, one address space touched by several
// threads, stacks that come and go. When a right is taken away, no CPU may go on using what it remembers.
//
// boot-test: success
// boot-test: processors 4
// boot-test: expect heap: every block came back whole
// boot-test: expect pages: no write was lost
// boot-test: expect rights: nobody wrote to a page that was read-only
// boot-test: expect stacks: 200 threads
#include <array>
#include <optional>

#include "base/random.h"
#include "os/boot/kernel.h"
#include "os/memory/user_memory.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

constexpr std::size_t worker_count = 4;

template <class Value>
Value require(Result<Value> result) {
  if (!result.ok()) panic(result.error());
  return std::move(result).value();
}

struct Workplace;
struct Worker {
  Workplace* place = nullptr;
  std::uint64_t number = 0;
  std::uint64_t written = 0;
};
struct Workplace {
  Kernel& kernel;
  AddressSpace* space = nullptr;
  VirtualAddress pages{};
  Atomic<bool> stop{false};
  std::array<Atomic<std::uint64_t*>, 64> blocks{};  // handed from one to the other
  std::array<Worker, worker_count> workers{};
};

void run_all(Workplace& place, void (*function)(Worker&), void (*meanwhile)(Workplace&)) {
  std::array<std::optional<KernelThread>, worker_count> threads;
  for (std::uint64_t i = 0; i < worker_count; ++i) {
    place.workers[i] = {&place, i};
    threads[i].emplace(require(spawn(place.kernel, "worker", function, place.workers[i])));
  }
  meanwhile(place);
  place.stop.store(true, MemoryOrder::relaxed);
  for (auto& thread : threads) thread->join();
  place.stop.store(false, MemoryOrder::relaxed);
}

// A block's first word says how long it is; all others are the same.
constexpr std::size_t longest = 300;
void free_block(Allocator& heap, std::uint64_t* block) {
  if (block == nullptr) return;
  const std::uint64_t words = *block & 0xffff;
  for (std::uint64_t word = 0; word < words; ++word) {
    if (block[word] != *block) panic("expected ", *block, " in a block, found ", block[word]);
  }
  heap.free(block, words * sizeof(*block));
}
void pass_blocks(Worker& worker) {
  Allocator& heap = worker.place->kernel.memory->heap();
  RandomNumbers random(worker.number);
  for (int step = 0; step < 2000; ++step) {
    const std::uint64_t words = 1 + random.below(random.below(10) == 0 ? longest * 4 : 20);
    auto* const block = static_cast<std::uint64_t*>(require(heap.allocate(words * sizeof(std::uint64_t))));
    for (std::uint64_t word = 0; word < words; ++word) block[word] = words | static_cast<std::uint64_t>(step) << 16;
    free_block(heap, worker.place->blocks[random.below(64)].exchange(block, MemoryOrder::acquire_release));
    if (step % 16 == 0) current_scheduler().yield();
  }
}

// Each worker has a word in every page, and adds one to it again and again.
constexpr std::uint64_t page_count = 16;
void count_in_pages(Worker& worker) {
  use_address_space(worker.place->space);
  std::uint64_t value = 0;
  bool is_refused = false;
  while (is_refused || !worker.place->stop.load(MemoryOrder::relaxed)) {
    const VirtualAddress word = worker.place->pages + worker.written % page_count * page_bytes + worker.number * 8;
    if (!is_refused) {
      require(copy_from_user(&value, word, 8));
      ++value;
    }
    // Not while the page is read-only. Where it becomes so in the middle, some bytes are written: the same value again.
    is_refused = !copy_to_user(word, &value, 8).ok();
    if (!is_refused) ++worker.written;
    if (is_refused || worker.written % 64 == 0) current_scheduler().yield();
  }
  use_address_space(nullptr);
}
void change_rights(Workplace& place) {
  use_address_space(place.space);
  constexpr Access read_write = Access::read | Access::write;
  for (std::uint64_t round = 0; round < 60; ++round) {
    const VirtualAddress page = place.pages + round % page_count * page_bytes;
    require(place.space->protect(page, page_bytes, Access::read));
    std::array<std::uint64_t, worker_count> before{}, after{};
    require(copy_from_user(&before, page, sizeof(before)));
    for (int turn = 0; turn < 20; ++turn) current_scheduler().yield();
    require(copy_from_user(&after, page, sizeof(after)));
    if (before != after) panic("expected no write to a read-only page, found one");
    require(place.space->protect(page, page_bytes, read_write));
    current_scheduler().yield();
  }
  use_address_space(nullptr);
}

void use_pages(Workplace& place) {
  KernelMemory& memory = *place.kernel.memory;
  AnonymousMemory anonymous(memory.frames(), memory.window());
  const Owned<AddressSpace> space = require(
      AddressSpace::create(memory.services(), &memory.table(), VirtualAddress(large_page_bytes), user_memory_end));
  RegionRequest request;
  request.object = &anonymous;
  request.bytes = page_count * page_bytes;
  request.access = Access::read | Access::write;
  place.space = space.get();
  place.pages = require(space->add(request));
  run_all(place, count_in_pages, change_rights);
  use_address_space(space.get());
  for (const Worker& worker : place.workers) {
    std::uint64_t sum = 0;
    for (std::uint64_t page = 0; page < page_count; ++page) {
      std::uint64_t value = 0;
      require(copy_from_user(&value, place.pages + page * page_bytes + worker.number * 8, 8));
      sum += value;
    }
    if (sum != worker.written) panic("expected ", worker.written, " writes, found ", sum);
  }
  use_address_space(nullptr);
  place.kernel.log.information("pages: no write was lost");
  place.kernel.log.information("rights: nobody wrote to a page that was read-only");
}

void spawn_threads(Worker& worker) {
  std::uint64_t& count = worker.written;
  for (int i = 0; i < 50; ++i) {
    require(spawn(worker.place->kernel, "short", [](std::uint64_t& ran) { ++ran; }, count)).join();
  }
}

}  // namespace

void run_payload(Kernel& kernel) {
  Workplace place{kernel};
  run_all(place, pass_blocks, [](Workplace&) {});
  for (auto& block : place.blocks) free_block(kernel.memory->heap(), block.exchange(nullptr, MemoryOrder::relaxed));
  kernel.log.information("heap: every block came back whole");
  use_pages(place);
  run_all(place, spawn_threads, [](Workplace&) {});
  std::uint64_t threads = 0;
  for (const Worker& worker : place.workers) threads += worker.written;
  kernel.log.information("stacks: ", threads, " threads");
}

}  // namespace ingot::os
