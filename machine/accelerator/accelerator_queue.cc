#include "machine/accelerator/accelerator_queue.h"

namespace ingot {

using accelerator::Packet;
using accelerator::vendor_packet;
using accelerator::VendorCode;

namespace {

constexpr std::size_t room_bytes = std::size_t{1} << 20;
constexpr std::size_t recording_bytes = std::size_t{64} << 10;
constexpr std::size_t argument_alignment = 64;

std::uint64_t address_of(const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

class AcceleratorQueue::QueueMark final : public Mark {
 public:
  explicit QueueMark(AcceleratorClient& client) : client_(client) {}
  ~QueueMark() override { client_.forget(tag_); }

  Result<void> place() override {
    client_.forget(tag_);
    times_.reset();
    tag_ = TRY(client_.submit(accelerator::barrier_packet(0), AcceleratorClient::Answered::always));
    return {};
  }
  Result<void> wait() override {
    if (!times_.has_value()) times_ = TRY(client_.wait(tag_));
    // The mark was reached also where what was given before it was refused.
    if (const std::optional<Error> refused = client_.take_failure()) return *refused;
    return {};
  }
  Result<double> seconds_since(const Mark& earlier) override {
    const auto& first = static_cast<const QueueMark&>(earlier);
    TRY(wait());
    if (!first.times_.has_value()) {
      return Error::of(ErrorCode::invalid_argument,
                       "expected an earlier mark that was waited for, found one that was not");
    }
    return static_cast<double>(times_->ended - first.times_->ended) * 1e-9;
  }

 private:
  AcceleratorClient& client_;
  std::uint64_t tag_ = 0;
  std::optional<PacketTimes> times_;
};

class AcceleratorQueue::ListRecording final : public Recording {
 public:
  ListRecording(std::uint64_t list, std::weak_ptr<Lists> lists) : list_(list), lists_(std::move(lists)) {}
  ~ListRecording() override {
    if (const auto lists = lists_.lock()) lists->forgotten.push_back(list_);
  }
  std::uint64_t list() const { return list_; }

 private:
  std::uint64_t list_;
  std::weak_ptr<Lists> lists_;
};

Result<std::unique_ptr<AcceleratorQueue>> AcceleratorQueue::create(AcceleratorClient& client, SharedHeap& heap) {
  const Piece room = {TRY(heap.allocate(room_bytes)), room_bytes};
  return std::unique_ptr<AcceleratorQueue>(new AcceleratorQueue(client, heap, room));
}

AcceleratorQueue::~AcceleratorQueue() {
  is_recording_ = false;
  failure_.reset();
  forget_lists();
  static_cast<void>(drain().ok());  // nobody asks any more whether it went well
  for (const Piece& piece : recorded_arguments_) heap_.release(piece.data, piece.bytes);
  heap_.release(room_.data, room_.bytes);
}

void AcceleratorQueue::keep(const Error& error) {
  if (failure_.has_value()) return;
  failure_ = step_.empty() ? error : error.within(std::string_view(step_));
}

void AcceleratorQueue::give(const Packet& packet) {
  if (failure_.has_value()) return;
  if (is_recording_) {
    recorded_.push_back(packet);
    return;
  }
  is_idle_ = false;
  const Result<std::uint64_t> given = client_.submit(packet, AcceleratorClient::Answered::on_failure);
  if (!given.ok()) keep(given.error());
}

Result<void> AcceleratorQueue::drain() {
  if (!is_idle_) {
    const Result<PacketTimes> done = client_.call(accelerator::barrier_packet(0));
    if (!done.ok()) keep(done.error());
    is_idle_ = true;
  }
  if (const std::optional<Error> refused = client_.take_failure()) keep(*refused);
  used_ = 0;
  if (failure_.has_value()) return *failure_;
  return {};
}

std::span<std::byte> AcceleratorQueue::arguments(std::size_t bytes) {
  if (failure_.has_value()) return {};
  const std::size_t wanted = align_up(bytes, argument_alignment);
  if (is_recording_) {
    if (recorded_arguments_.empty() || recorded_arguments_.back().bytes - recorded_used_ < wanted) {
      const std::size_t piece = std::max(wanted, recording_bytes);
      const Result<std::byte*> taken = heap_.allocate(piece);
      if (!taken.ok()) {
        keep(taken.error());
        return {};
      }
      recorded_arguments_.push_back({taken.value(), piece});
      recorded_used_ = 0;
    }
    std::byte* const begin = recorded_arguments_.back().data + recorded_used_;
    recorded_used_ += wanted;
    return {begin, bytes};
  }
  if (wanted > room_.bytes) {
    keep(Error::of(ErrorCode::out_of_memory, "expected at most ", room_.bytes, " bytes of arguments, found ", bytes));
    return {};
  }
  // Behind the last room the first is taken again, when the worker has read what lies there.
  if (room_.bytes - used_ < wanted && !drain().ok()) return {};
  std::byte* const begin = room_.data + used_;
  used_ += wanted;
  return {begin, bytes};
}

void AcceleratorQueue::dispatch(std::uint64_t contract, std::span<const std::byte> arguments, bool alone) {
  give(accelerator::dispatch_packet(contract, address_of(arguments.data()), 0, alone));
}

void AcceleratorQueue::launch(const DeviceFunction& function, const LaunchShape&, std::span<const std::byte>) {
  keep(Error::of(ErrorCode::unsupported, "expected a contract, found the device function ", function.name,
                 ": an accelerator runs contracts alone"));
}

// Where nothing is under way the memory is as good as this process's own.
void AcceleratorQueue::copy(std::byte* to, const std::byte* from, std::size_t bytes, const std::byte* foreign) {
  if (bytes == 0 || failure_.has_value()) return;
  const bool is_seen = foreign == nullptr || heap_.contains(foreign, bytes);
  if (!is_seen && is_recording_) {
    keep(Error::of(ErrorCode::invalid_argument,
                   "expected a recorded copy between memory of the device and pinned one, ",
                   "found other memory of the host"));
    return;
  }
  if (!is_recording_ && (is_idle_ || (!is_seen && drain().ok()))) {
    std::memcpy(to, from, bytes);
    return;
  }
  if (is_seen) give(vendor_packet(VendorCode::copy, {address_of(to), address_of(from), bytes, 0}, 0));
}

void AcceleratorQueue::copy_in(std::byte* device, const std::byte* host, std::size_t bytes) {
  copy(device, host, bytes, host);
}
void AcceleratorQueue::copy_out(std::byte* host, const std::byte* device, std::size_t bytes) {
  copy(host, device, bytes, host);
}
void AcceleratorQueue::copy_within(std::byte* to, const std::byte* from, std::size_t bytes) {
  copy(to, from, bytes, nullptr);
}

void AcceleratorQueue::fill(std::byte* device, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0 || failure_.has_value()) return;
  if (is_idle_ && !is_recording_) {
    std::memset(device, value, bytes);
  } else {
    give(vendor_packet(VendorCode::fill, {address_of(device), bytes, value, 0}, 0));
  }
}

Result<std::unique_ptr<Mark>> AcceleratorQueue::make_mark() {
  return std::unique_ptr<Mark>(std::make_unique<QueueMark>(client_));
}

// One that has failed gives nothing: they are forgotten when it has told of that.
void AcceleratorQueue::forget_lists() {
  if (failure_.has_value() || is_recording_) return;
  for (const std::uint64_t list : std::exchange(lists_->forgotten, {})) {
    give(vendor_packet(VendorCode::forget_list, {list, 0, 0, 0}, 0));
  }
}

Result<void> AcceleratorQueue::begin_recording() {
  if (is_recording_) return Error::of(ErrorCode::invalid_argument, "expected one recording at a time, found another");
  if (failure_.has_value()) return *failure_;
  forget_lists();
  is_recording_ = true;
  return {};
}

Result<std::unique_ptr<Recording>> AcceleratorQueue::end_recording() {
  is_recording_ = false;
  const std::vector<Packet> packets = std::exchange(recorded_, {});
  const std::deque<Piece> arguments = std::exchange(recorded_arguments_, {});
  const std::size_t bytes = packets.size() * sizeof(Packet);
  const auto record = [&]() -> Result<std::uint64_t> {
    if (failure_.has_value()) return *failure_;
    const std::uint64_t list = client_.new_list();
    if (packets.empty()) return Error::of(ErrorCode::invalid_argument, "expected work to be recorded, found none");
    std::byte* const written = TRY(heap_.allocate(bytes));
    std::memcpy(written, packets.data(), bytes);
    const Result<PacketTimes> kept =
        client_.call(vendor_packet(VendorCode::record_list, {list, address_of(written), packets.size(), 0}, 0));
    heap_.release(written, bytes);
    if (!kept.ok()) return kept.error();
    return list;
  };
  const Result<std::uint64_t> list = record();
  for (const Piece& piece : arguments) heap_.release(piece.data, piece.bytes);
  if (!list.ok()) return list.error();
  return std::unique_ptr<Recording>(std::make_unique<ListRecording>(list.value(), lists_));
}

void AcceleratorQueue::replay(const Recording& recording) {
  give(vendor_packet(VendorCode::execute_list, {static_cast<const ListRecording&>(recording).list(), 0, 0, 0}, 0));
}

Result<void> AcceleratorQueue::wait() {
  forget_lists();
  const Result<void> done = drain();
  if (!done.ok()) failure_.reset();
  return done;
}

}  // namespace ingot
