// The kernel's heap: blocks of all sizes come and go in no order, keep what is written to them, and leave nothing.
//
// boot-test: success
// boot-test: expect heap: 4000 steps, no block overlapped another
// boot-test: expect heap: empty again
// boot-test: expect stacks: 40 lived at once, the first address was used again
#include <array>

#include "base/random.h"
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

struct Block {
  unsigned char* bytes = nullptr;
  std::size_t size = 0;
  unsigned char content = 0;
};

void free_block(Allocator& heap, Block& block) {
  for (std::size_t index = 0; index < block.size; ++index) {
    if (block.bytes[index] != block.content) panic("expected ", block.content, ", found ", block.bytes[index]);
  }
  heap.free(block.bytes, block.size);
  block = {};
}

void use_heap(Kernel& kernel) {
  Allocator& heap = kernel.memory->heap();
  const std::uint64_t live_before = heap.statistics().live_blocks;
  std::array<Block, 64> blocks{};
  RandomNumbers random(5);
  for (int step = 0; step < 4000; ++step) {
    Block& block = blocks[random.below(blocks.size())];
    if (block.bytes != nullptr) {
      free_block(heap, block);
      continue;
    }
    // Mostly small, some of several pages.
    const std::size_t size = 1 + random.below(random.below(16) == 0 ? 20000 : 1200);
    const Result<void*> taken = heap.allocate(size);
    if (!taken.ok()) panic(taken.error());
    block = {static_cast<unsigned char*>(taken.value()), size, static_cast<unsigned char>(step)};
    __builtin_memset(block.bytes, block.content, size);
  }
  for (Block& block : blocks) {
    if (block.bytes != nullptr) free_block(heap, block);
  }
  kernel.log.information("heap: 4000 steps, no block overlapped another");
  if (heap.statistics().live_blocks == live_before) kernel.log.information("heap: empty again");
}

void use_stacks(KernelMemory& memory, Log& log) {
  std::array<KernelStack, 40> stacks;
  for (std::size_t index = 0; index < stacks.size(); ++index) {
    const std::uint64_t bytes = (1 + index % 15) * page_bytes;
    Result<KernelStack> stack = memory.allocate_stack(bytes);
    if (!stack.ok()) panic(stack.error());
    stacks[index] = std::move(stack).value();
    __builtin_memset(reinterpret_cast<void*>(stacks[index].bottom().value()), static_cast<int>(index), bytes);
    if (memory.table().find(stacks[index].bottom() - 1)) panic("expected a guard page, found it mapped");
  }
  for (std::size_t index = 0; index < stacks.size(); ++index) {
    const auto* const last = reinterpret_cast<const unsigned char*>((stacks[index].top() - 1).value());
    if (*last != index) panic("expected ", index, " in its stack, found ", *last);
  }
  const VirtualAddress first = stacks[0].top();
  stacks[0] = KernelStack();
  Result<KernelStack> again = memory.allocate_stack(page_bytes);
  if (!again.ok()) panic(again.error());
  if (again.value().top() == first) log.information("stacks: 40 lived at once, the first address was used again");
}

}  // namespace

void run_payload(Kernel& kernel) {
  use_heap(kernel);
  use_stacks(*kernel.memory, kernel.log);
}

}  // namespace ingot::os
