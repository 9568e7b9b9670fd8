// Where objects live, and until when.
#include <memory>
#include <vector>

#include "docs/learn/lesson.h"
#include "machine/memory.h"

namespace {

int live_objects = 0;

struct Counted {
  Counted() { ++live_objects; }
  ~Counted() { --live_objects; }
};

// A call pushes a frame; returning pops it, and what it held is gone.
int sum_of_frame() {
  const int on_the_stack[3] = {1, 2, 3};
  return on_the_stack[0] + on_the_stack[1] + on_the_stack[2];
}

}  // namespace

int main() {
  fact(sum_of_frame() == 6, "a function may hand out a copy of what its frame computed, never the frame's address");
  {
    const Counted on_the_stack;
    fact(live_objects == 1, "an object on the stack lives as long as its scope");
  }
  fact(live_objects == 0, "leaving the scope destroyed it");

  std::unique_ptr<Counted> owner;
  {
    owner = std::make_unique<Counted>();
    fact(live_objects == 1, "an object on the heap ...");
  }
  fact(live_objects == 1, "... outlives the scope that made it");
  owner.reset();
  fact(live_objects == 0, "and dies when its owner lets go");

  // Tensors live in large aligned blocks. The block has one owner; views only look.
  const ingot::Result<ingot::Memory> block = ingot::Memory::allocate(ingot::Bytes(1 << 20));
  fact(block.ok(), "Ingot's Memory owns a block ...");
  fact(reinterpret_cast<std::uintptr_t>(block.value().data()) % 64 == 0, "... that starts on a cache line");
}
