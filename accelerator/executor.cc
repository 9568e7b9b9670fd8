#include "accelerator/executor.h"

#include <algorithm>
#include <cstring>

#include "kernels/contract/call_arguments.h"

namespace ingot {

using accelerator::Access;
using accelerator::Command;
using accelerator::CommandKind;

Result<Executor> Executor::create(std::span<const Operation* const> operations, FeatureSet features, Workers& workers,
                                  ClientMemory& memory) {
  std::map<std::uint64_t, const Operation*> by_digest;
  for (const Operation* operation : operations) by_digest.emplace(contract_digest(*operation), operation);
  return Executor(std::move(by_digest), TRY(KernelTable::select(operations, features)),
                  TRY(KernelTable::select(operations, features, {}, Neighbours::never_show)), workers, memory);
}

Result<void> Executor::run(const Command& command) {
  switch (command.kind) {
    case CommandKind::barrier: return {};  // packets are done in their order
    case CommandKind::record_list: return record(command);
    case CommandKind::execute_list: return execute(command.list);
    case CommandKind::forget_list: lists_.erase(command.list); return {};
    case CommandKind::dispatch:
    case CommandKind::copy:
    case CommandKind::fill: break;
  }
  const Step step = TRY(prepare(command, nullptr));
  TRY(make_scratch(step.scratch_bytes));
  do_step(step);
  return {};
}

Result<std::byte*> Executor::find(std::uint64_t begin, std::uint64_t bytes, Access access,
                                  std::vector<Stretch>* reached) const {
  std::byte* const found = TRY(memory_->find(begin, bytes, access));
  if (reached != nullptr) {
    const auto address = reinterpret_cast<std::uintptr_t>(found);
    reached->push_back({address, address + bytes});
  }
  return found;
}

Result<Executor::Step> Executor::prepare(const Command& command, std::vector<Stretch>* reached) {
  Step step;
  switch (command.kind) {
    case CommandKind::dispatch: return prepare_call(command, reached);
    case CommandKind::copy:
      step.to = TRY(find(command.address, command.bytes, Access::write, reached));
      step.from = TRY(find(command.source, command.bytes, Access::read, reached));
      step.bytes = command.bytes;
      return step;
    case CommandKind::fill:
      step.to = TRY(find(command.address, command.bytes, Access::write, reached));
      step.bytes = command.bytes;
      step.value = command.value;
      return step;
    case CommandKind::barrier: return step;
    default: break;
  }
  return Error::of(ErrorCode::invalid_argument, "expected dispatches, copies, fillings and barriers in a list, found ",
                   "another packet");
}

Result<Executor::Step> Executor::prepare_call(const Command& command, std::vector<Stretch>* reached) {
  const auto found = operations_.find(command.contract);
  if (found == operations_.end()) {
    return Error::of(ErrorCode::not_found, "expected a contract that this accelerator knows, found the digest ",
                     command.contract, ": client and accelerator are of different versions");
  }
  const Operation& operation = *found->second;
  // Copied once: the client may change them meanwhile.
  const std::size_t bytes = call_bytes(operation);
  arguments_.resize(bytes);
  std::memcpy(arguments_.data(), TRY(memory_->find(command.address, bytes, Access::read)), bytes);
  const FindBytes find_there = [&](std::uint64_t begin, std::uint64_t size, Access access) {
    return find(begin, size, access, reached);
  };
  Step step;
  step.invocation = TRY(decode_call(operation, arguments_, find_there));
  // What the tensors of a list hold is known when it runs, and is then the client's to vouch for: an index that leads
  // astray finds this process, which is that client's alone.
  const bool is_listed = reached != nullptr;
  if (is_listed) {
    const auto by_shape = TRY(decode_call(operation, arguments_, find_there, Place::device(0)));
    TRY(by_shape->check());
  } else {
    TRY(step.invocation->check());
  }
  const KernelTable& table = command.alone ? alone_ : table_;
  step.row = table.choose(operation, *step.invocation);
  if (step.row < 0) {
    return Error::of(ErrorCode::unsupported, operation.name, ": expected a row that takes these arguments, found none");
  }
  step.scratch_bytes = step.invocation->scratch_bytes(step.row, workers_->count());
  return step;
}

// Not Memory, which asks the system for its kinds of pages: a confined worker may not. Where there is none, what there
// was stays: lists were promised it.
Result<void> Executor::make_scratch(std::size_t bytes) {
  if (bytes <= scratch_bytes_) return {};
  std::byte* const larger = new (std::align_val_t{64}, std::nothrow) std::byte[bytes];
  if (larger == nullptr) {
    return Error::of(ErrorCode::out_of_memory, "expected memory for ", bytes, " bytes of scratch, found none");
  }
  scratch_.reset(larger);
  scratch_bytes_ = bytes;
  return {};
}

void Executor::do_step(const Step& step) {
  if (step.invocation != nullptr) {
    Context context{*workers_, {scratch_.get(), step.scratch_bytes}};
    step.invocation->run(step.row, context);
    ++counts_.dispatches;
  } else if (step.from != nullptr) {
    std::memcpy(step.to, step.from, step.bytes);
  } else if (step.bytes > 0) {
    std::memset(step.to, step.value, step.bytes);
  }
}

Result<void> Executor::record(const Command& command) {
  if (lists_.size() >= accelerator::most_lists && !lists_.contains(command.list)) {
    return Error::of(ErrorCode::out_of_memory, "expected at most ", accelerator::most_lists, " lists, found one more");
  }
  // All of it, before anything is kept: the client may change its packets meanwhile.
  const std::size_t bytes = command.list_count * sizeof(accelerator::Packet);
  std::vector<accelerator::Packet> packets(command.list_count);
  std::memcpy(packets.data(), TRY(memory_->find(command.address, bytes, Access::read)), bytes);
  List list;
  for (std::size_t index = 0; index < packets.size(); ++index) {
    const auto prepared = [&]() -> Result<Step> {
      return prepare(TRY(accelerator::decode(packets[index])), &list.reached);
    };
    Result<Step> step = prepared();
    if (!step.ok()) return step.error().within("packet ", index, " of the list");
    TRY(make_scratch(step.value().scratch_bytes));
    list.steps.push_back(std::move(step).value());
  }
  lists_.insert_or_assign(command.list, std::move(list));
  return {};
}

Result<void> Executor::execute(std::uint64_t list) {
  const auto found = lists_.find(list);
  if (found == lists_.end()) {
    return Error::of(ErrorCode::not_found, "expected a list that was recorded and whose memory is still mapped, found ",
                     list);
  }
  for (const Step& step : found->second.steps) do_step(step);
  ++counts_.lists;
  return {};
}

Result<void> Executor::unmap(std::uint64_t begin) {
  const accelerator::ClientRange gone = TRY(memory_->unmap(begin));
  // Their addresses lead nowhere now. Where nothing is left, a client has gone, or might as well have: a list of
  // barriers would be the next one's.
  const bool is_last = memory_->bytes() == 0;
  std::erase_if(lists_, [&](const auto& entry) {
    return is_last || std::ranges::any_of(entry.second.reached, [&](const Stretch& stretch) {
             return stretch.begin < gone.home + gone.bytes && gone.home < stretch.end;
           });
  });
  return {};
}

}  // namespace ingot
