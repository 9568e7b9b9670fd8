#include "engine/weight_sender.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "machine/limits.h"

namespace ingot {
namespace {

constexpr int most_readers = 8;                // more do not bring a page cache's bytes sooner
constexpr std::size_t places_of_a_reader = 2;  // one that is read to, and one that is copied from

}  // namespace

// Threads that take the next piece for which there is a place.
struct WeightSender::Readers {
  Readers(const WeightSender& owner, std::span<const Piece> all)
      : sender(owner), pieces(all), is_read(all.size(), false), with_place(owner.marks_.size()) {}
  ~Readers() {
    {
      const std::lock_guard lock(mutex);
      next = pieces.size();
    }
    has_place.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  // As many as the system gives: one is enough.
  Result<void> start() {
    const auto count = std::min<std::size_t>(pieces.size(), static_cast<std::size_t>(sender.readers_));
    while (threads.size() < count) {
      try {
        threads.emplace_back([this] { read(); });
      } catch (const std::system_error& error) {
        if (!threads.empty()) return {};
        return Error::of(ErrorCode::input_output, "expected a thread that reads weights, found: ", error.what());
      }
    }
    return {};
  }

  void read() {
    std::unique_lock lock(mutex);
    while (true) {
      has_place.wait(lock, [&] { return next >= pieces.size() || next < with_place; });
      if (next >= pieces.size()) return;
      const std::size_t piece = next++;
      lock.unlock();
      const Result<void> done = sender.file_.read(pieces[piece], sender.place_of(piece));
      lock.lock();
      is_read[piece] = true;
      if (!done.ok() && !failure) failure = done.error();
      has_read.notify_one();
    }
  }

  Result<void> wait_for(std::size_t piece) {
    std::unique_lock lock(mutex);
    has_read.wait(lock, [&] { return is_read[piece] || failure; });
    return failure ? Result<void>(*failure) : Result<void>();
  }

  // The place of this piece may be read to again.
  void give_place_back(std::size_t piece) {
    {
      const std::lock_guard lock(mutex);
      with_place = piece + 1 + sender.marks_.size();
    }
    has_place.notify_one();  // for one piece more
  }

  const WeightSender& sender;
  const std::span<const Piece> pieces;
  std::mutex mutex;                   // of all that follows
  std::condition_variable has_place;  // what readers wait for
  std::condition_variable has_read;   // what the sender waits for
  std::vector<bool> is_read;
  std::size_t next = 0;    // that nobody reads yet
  std::size_t with_place;  // pieces before this one have one
  std::optional<Error> failure;
  std::vector<std::thread> threads;
};

Result<std::unique_ptr<WeightSender>> WeightSender::create(const ModelFile& file, Device& device,
                                                           std::size_t most_bytes) {
  std::unique_ptr<WeightSender> sender(new WeightSender(file, most_bytes));
  sender->readers_ = std::min(usable_cpu_count(), most_readers);
  const std::size_t places = static_cast<std::size_t>(std::max(sender->readers_, lanes)) * places_of_a_reader;
  sender->ring_ = TRY(device.allocate_pinned(places * most_bytes));
  for (std::unique_ptr<Queue>& queue : sender->queues_) {
    queue = TRY(device.make_queue());
    queue->name_step("upload");
  }
  while (sender->marks_.size() < places) {
    sender->marks_.push_back(TRY(sender->queues_[sender->marks_.size() % lanes]->make_mark()));
  }
  return sender;
}

WeightSender::~WeightSender() { static_cast<void>(finish()); }

Result<void> WeightSender::finish() {
  Result<void> done;
  for (const std::unique_ptr<Queue>& queue : queues_) {
    const Result<void> waited = queue == nullptr ? Result<void>() : queue->wait();
    if (done.ok()) done = waited;
  }
  return done;
}

Result<void> WeightSender::send(std::span<const Piece> pieces, const Give& give) {
  Readers readers(*this, pieces);
  TRY(readers.start());
  return give_in_order(readers, give);
}

// As many places are being copied from as being read to: by the time that one is waited for, its copy has ended.
Result<void> WeightSender::give_in_order(Readers& readers, const Give& give) {
  const std::size_t behind = marks_.size() / places_of_a_reader;
  for (std::size_t piece = 0; piece < readers.pieces.size(); ++piece) {
    TRY(readers.wait_for(piece));
    TRY(give(piece, place_of(piece), static_cast<int>(piece % lanes)));
    TRY(marks_[piece % marks_.size()]->place());
    if (piece < behind) continue;
    TRY(marks_[(piece - behind) % marks_.size()]->wait());
    readers.give_place_back(piece - behind);
  }
  return {};
}

}  // namespace ingot
