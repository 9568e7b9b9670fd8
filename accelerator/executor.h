// Executor: does what packets say, with this machine's rows, on a client's memory. Nothing is believed: a contract is
// looked up by its digest, arguments are copied before they are read, each stretch that a tensor reaches must be the
// client's, and the contract's own constraints must hold before a row sees it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "accelerator/client_memory.h"
#include "base/accelerator/packet.h"
#include "kernels/contract/table.h"

namespace ingot {

struct ExecutorCounts {
  std::uint64_t dispatches = 0;
  std::uint64_t lists = 0;
};

class Executor {
 public:
  // What it is given must outlive it.
  static Result<Executor> create(std::span<const Operation* const> operations, FeatureSet features, Workers& workers,
                                 ClientMemory& memory);

  Result<void> run(const accelerator::Command& command);
  // Of the range of the client's memory that begins there; lists that reach it are forgotten, with the last range all.
  Result<void> unmap(std::uint64_t begin);
  const ExecutorCounts& counts() const { return counts_; }

 private:
  // Something to do, with all that it needs: checked, and with addresses of ours.
  struct Step {
    std::unique_ptr<Invocation> invocation;  // null of a copy and a filling
    int row = 0;
    std::size_t scratch_bytes = 0;
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // null of a filling
    std::size_t bytes = 0;
    std::uint8_t value = 0;
  };
  struct Stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  struct List {
    std::vector<Step> steps;
    std::vector<Stretch> reached;  // of our addresses
  };
  struct AlignedDelete {
    void operator()(std::byte* data) const { ::operator delete[](data, std::align_val_t{64}); }
  };
  Executor(std::map<std::uint64_t, const Operation*> operations, KernelTable table, KernelTable alone, Workers& workers,
           ClientMemory& memory)
      : operations_(std::move(operations)),
        table_(std::move(table)),
        alone_(std::move(alone)),
        workers_(&workers),
        memory_(&memory) {}

  Result<Step> prepare(const accelerator::Command& command, std::vector<Stretch>* reached);
  Result<Step> prepare_call(const accelerator::Command& command, std::vector<Stretch>* reached);
  Result<std::byte*> find(std::uint64_t begin, std::uint64_t bytes, accelerator::Access access,
                          std::vector<Stretch>* reached) const;
  Result<void> make_scratch(std::size_t bytes);
  void do_step(const Step& step);
  Result<void> record(const accelerator::Command& command);
  Result<void> execute(std::uint64_t list);

  std::map<std::uint64_t, const Operation*> operations_;  // by digest
  KernelTable table_;
  KernelTable alone_;
  Workers* workers_;
  ClientMemory* memory_;
  std::map<std::uint64_t, List> lists_;
  std::unique_ptr<std::byte[], AlignedDelete> scratch_;
  std::size_t scratch_bytes_ = 0;
  std::vector<std::byte> arguments_;
  ExecutorCounts counts_;
};

}  // namespace ingot
