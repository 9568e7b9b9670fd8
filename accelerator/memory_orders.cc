#include "accelerator/memory_orders.h"

namespace ingot {

using accelerator::MemoryCode;

Result<std::uint64_t> MemoryOrders::run_here(const accelerator::MemoryCommand& command) {
  switch (command.code) {
    case MemoryCode::locate: return machine_.locate(command);
    case MemoryCode::map_pieces: {
      const std::vector<FilePiece> pieces = TRY(machine_.read_table(command));
      TRY(map(machine_.descriptor(), pieces, command));
      return std::uint64_t{0};
    }
    case MemoryCode::unmap: TRY(executor_.unmap(command.address)); return std::uint64_t{0};
    case MemoryCode::map:
    case MemoryCode::adopt: break;
  }
  return Error::of(ErrorCode::unsupported, "expected a memory with such an order, found none");
}

}  // namespace ingot
