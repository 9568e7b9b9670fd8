// MemoryOrders: does what the owner of a client's memory says of it.
#pragma once

#include "accelerator/executor.h"
#include "accelerator/machine_memory.h"

namespace ingot {

class MemoryOrders {
 public:
  // What it is given must outlive it.
  MemoryOrders(ClientMemory& memory, Executor& executor) : memory_(memory), executor_(executor) {}

  // `take_memory` gives the next memory that was handed over. What is answered: see MemoryCode.
  template <class TakeMemory>
  Result<std::uint64_t> run(const accelerator::MemoryCommand& command, const TakeMemory& take_memory) {
    using accelerator::MemoryCode;
    if (command.code == MemoryCode::adopt) return machine_.adopt(TRY(take_memory()));
    if (command.code == MemoryCode::map) {
      const Descriptor memory = TRY(take_memory());
      const FilePiece piece = {command.offset, command.bytes};
      TRY(map(memory.get(), {&piece, 1}, command));
      return std::uint64_t{0};
    }
    return run_here(command);
  }

 private:
  Result<std::uint64_t> run_here(const accelerator::MemoryCommand& command);
  Result<void> map(int memory, std::span<const FilePiece> pieces, const accelerator::MemoryCommand& command) {
    return memory_.map(memory, pieces, command.address, command.writable);
  }

  ClientMemory& memory_;
  Executor& executor_;
  MachineMemory machine_;
};

}  // namespace ingot
