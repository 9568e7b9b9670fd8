#include "engine/device_model.h"

#include <algorithm>

#include "base/units.h"
#include "engine/weight_sender.h"
#include "kernels/all_operations.h"
#include "kernels/contract/accelerated_call.h"
#include "model/plan/split.h"
#include "tensor/interleaved.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

constexpr std::size_t weight_alignment = 256;

std::size_t bytes_of_weight(const ConstAnyView& weight) {
  return static_cast<std::size_t>(row_bytes(weight.dtype(), weight.count()));
}

// Which weights go to a device, and how.
struct WeightPlaces {
  // By the address on the host: tied weights have two names and one place, which holds the largest of them.
  std::map<const std::byte*, ConstAnyView> weights;
  std::vector<const std::byte*> lent;  // that the device reads in the model's files
  LaidOutWeights laid_out;
  std::size_t total = 0;  // bytes on the device, with what is between them
};

// How a pass reads weights does not depend on which one it is.
Result<Circuit> circuit_of(const Model& model) {
  CircuitBuilder builder(model.weights(), {.runs = {1}, .outputs = 1}, {.longest = 1});
  model.form().emit(builder);
  return builder.finish();
}

WeightAddresses weights_read_by(const Circuit& circuit) {
  WeightAddresses read;
  for (const Step& step : circuit.steps) {
    for (const BoundOperand& bound : step.operands) {
      const CircuitTensor& tensor = circuit.tensors[static_cast<std::size_t>(bound.operand.tensor)];
      if (tensor.storage == Storage::weight) read.insert(tensor.weight.data());
    }
  }
  return read;
}

std::uint64_t bytes_laid_out(const Model& model, const LaidOutWeights& laid_out) {
  std::uint64_t bytes = 0;
  for (const auto& [name, weight] : model.weights().all()) {
    if (laid_out.weights.contains(weight.data())) bytes += bytes_of_weight(weight);
  }
  return bytes;
}

// Those of a split model that only layers of the host read. Others are the device's, also where this pass reads them
// nowhere: a longer one may turn keys by other factors.
WeightAddresses weights_of_host(const CircuitParts& parts) {
  WeightAddresses of_host = weights_read_by(parts.host);
  for (const std::byte* const shared : weights_read_by(parts.device)) of_host.erase(shared);
  return of_host;
}

// A device that takes calls reads files where they are mapped.
bool is_lent(const ModelFile& file, const ConstAnyView& weight) {
  const std::span<const std::byte> bytes(weight.data(), bytes_of_weight(weight));
  return std::ranges::any_of(file.mapped(), [&](const MappedFile* mapped) { return mapped->has(bytes); });
}

Result<WeightPlaces> find_places(const Model& model, bool takes_calls, const DeviceModel::Use& use) {
  CircuitParts parts = {.host = {}, .device = TRY(circuit_of(model)), .crossing = {}};
  if (use.host_layers > 0) parts = split_layers(parts.device, use.host_layers);
  const WeightAddresses left_out = weights_of_host(parts);
  WeightPlaces places;
  if (!takes_calls) places.laid_out = find_laid_out_weights(parts.device, WeightLayout::planes16);
  if (takes_calls && use.interleaved) {
    places.laid_out = find_laid_out_weights(parts.device, WeightLayout::interleaved8, use.interleaved);
    if (bytes_laid_out(model, places.laid_out) > use.most_interleaved) places.laid_out.weights.clear();
  }
  for (const auto& [name, weight] : model.weights().all()) {
    if (left_out.contains(weight.data())) continue;
    if (takes_calls && !places.laid_out.weights.contains(weight.data()) && is_lent(model.file(), weight)) {
      places.lent.push_back(weight.data());
      continue;
    }
    if (!weight.is_contiguous()) {
      return Error::of(ErrorCode::unsupported, name, ": expected a weight in one piece, found byte strides ",
                       weight.byte_strides());
    }
    if (!takes_calls && is_generic_format(weight.dtype())) {
      return Error::of(ErrorCode::unsupported, name, ": expected a format that a GPU's products read, found ",
                       weight.dtype(), ", which only the CPU has code for: --device cpu");
    }
    ConstAnyView& largest = places.weights.try_emplace(weight.data(), weight).first->second;
    if (bytes_of_weight(weight) > bytes_of_weight(largest)) largest = weight;
  }
  for (const auto& [data, weight] : places.weights) places.total += align_up(bytes_of_weight(weight), weight_alignment);
  return places;
}

// A part of a weight, in whole tiles of rows where it is to be laid out.
struct Part {
  std::span<const std::byte> bytes;
  std::byte* to = nullptr;
  ConstAnyView rows = {};  // of those that are to be laid out
};

// Brings weights to their places, part by part; those that are to be laid out by way of a place of their own on the
// device, from where it packs them.
class Upload {
 public:
  Upload(Device& device, WeightLayout layout, const DeviceModel::Progress& progress)
      : device_(device), layout_(layout), progress_(progress) {}

  void add(const ConstAnyView& weight, std::byte* to) {
    const std::span<const std::byte> bytes(weight.data(), bytes_of_weight(weight));
    for (std::size_t at = 0; at < bytes.size(); at += WeightSender::usual_bytes) {
      const std::size_t part = std::min(WeightSender::usual_bytes, bytes.size() - at);
      parts_.push_back({.bytes = bytes.subspan(at, part), .to = to + at});
    }
    total_ += bytes.size();
  }

  void add_laid_out(const ConstAnyView& weight, std::byte* to) {
    const std::int64_t row = weight.byte_stride(0);
    const std::int64_t rows_of_tile = layout_ == WeightLayout::planes16 ? plane_rows : interleaved_rows;
    const std::int64_t tile = std::max<std::int64_t>(1, row * rows_of_tile);
    const std::int64_t step =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(WeightSender::usual_bytes) / tile) * rows_of_tile;
    for (std::int64_t begin = 0; begin < weight.size(0); begin += step) {
      const std::int64_t rows = std::min(step, weight.size(0) - begin);
      const auto bytes = static_cast<std::size_t>(rows * row);
      parts_.push_back({.bytes = {weight.row(begin), bytes},
                        .to = to + begin * row,
                        .rows = ConstAnyView(weight.row(begin), weight.dtype(), Shape{rows, weight.size(1)},
                                             weight.byte_strides())});
      staged_bytes_ = std::max(staged_bytes_, bytes);
    }
    total_ += bytes_of_weight(weight);
  }

  Result<void> run(const ModelFile& file) {
    if (parts_.empty()) return {};
    const DeviceInformation& information = device_.information();
    table_ = std::make_unique<KernelTable>(TRY(KernelTable::select(all_operations(), processor_of(information))));
    workers_ = TRY(Workers::create({.threads = 1}));
    for (DeviceMemory& staging : staging_) staging = TRY(device_.allocate(staged_bytes_));
    sender_ = TRY(WeightSender::create(file, device_, std::max(staged_bytes_, WeightSender::usual_bytes)));
    for (int lane = 0; lane < WeightSender::lanes && information.takes_calls; ++lane) {
      calls_[lane] = calls_into(sender_->queue(lane), Neighbours::may_show);
    }
    std::vector<WeightSender::Piece> pieces;
    for (const Part& part : parts_) pieces.push_back(part.bytes);
    TRY(sender_->send(pieces, [this](std::size_t piece, const std::byte* read, int lane) {
      return give(parts_[piece], read, lane);
    }));
    return sender_->finish();
  }

 private:
  Result<void> give(const Part& part, const std::byte* read, int lane) {
    Queue& queue = sender_->queue(lane);
    const bool is_packed = part.rows.data() != nullptr;
    std::byte* const to = is_packed ? staging_[lane].data() : part.to;
    queue.copy_in(to, read, part.bytes.size());
    if (is_packed) {
      const Place place = Place::device(device_.information().index);
      const ConstAnyView& rows = part.rows;
      const ConstAnyView stored(to, rows.dtype(), rows.shape(), rows.byte_strides(), place);
      const AnyView packed(part.to, rows.dtype(), rows.shape(), rows.byte_strides(), place);
      Context context{*workers_, {}, &queue, calls_[lane].get()};
      TRY(pack_rows(stored, layout_, packed, *table_, context));
    }
    done_ += part.bytes.size();
    if (!progress_ || progress_(done_, total_)) return {};
    return Error::of(ErrorCode::input_output, "expected to upload ", total_, " bytes, found that it was ended after ",
                     done_);
  }

  Device& device_;
  const WeightLayout layout_;
  const DeviceModel::Progress& progress_;
  std::vector<Part> parts_;
  std::size_t staged_bytes_ = 0;  // of the largest part that is packed
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  std::unique_ptr<KernelTable> table_;
  std::unique_ptr<Workers> workers_;
  DeviceMemory staging_[WeightSender::lanes];
  std::unique_ptr<WeightSender> sender_;  // ends before what its queues use
  std::unique_ptr<CallQueue> calls_[WeightSender::lanes];
};

}  // namespace

Result<std::size_t> DeviceModel::bytes_of(const Model& model, const DeviceInformation& device, const Use& use) {
  return TRY(find_places(model, device.takes_calls, use)).total;
}

Result<std::shared_ptr<const DeviceModel>> DeviceModel::upload(std::shared_ptr<const Model> model,
                                                               std::shared_ptr<Device> device, const Progress& progress,
                                                               const Use& use) {
  std::shared_ptr<DeviceModel> made(new DeviceModel(std::move(model), std::move(device), use.host_layers));
  WeightPlaces places = TRY(find_places(*made->model_, made->device_->information().takes_calls, use));
  const DeviceMemoryState state = TRY(made->device_->memory_state());
  if (places.total > state.free_bytes) {
    return Error::of(ErrorCode::out_of_memory, "expected ", places.total, " bytes for weights on ",
                     std::string_view(made->device_->information().name), ", found ", state.free_bytes, " of ",
                     state.total_bytes, " free: end what else runs there, or take smaller weights");
  }
  TRY(made->lend(places.lent));
  made->laid_out_ = std::move(places.laid_out);
  made->memory_ = TRY(made->device_->allocate(places.total));
  Upload upload(*made->device_, made->laid_out_.layout, progress);
  std::byte* to = made->memory_.data();
  for (const auto& [data, weight] : places.weights) {
    made->places_[data] = to;
    if (made->laid_out_.weights.contains(data)) {
      upload.add_laid_out(weight, to);
    } else {
      upload.add(weight, to);
    }
    to += align_up(bytes_of_weight(weight), weight_alignment);
  }
  TRY(upload.run(made->model_->file()));
  return std::shared_ptr<const DeviceModel>(std::move(made));
}

Result<void> DeviceModel::lend(std::span<const std::byte* const> weights) {
  for (const MappedFile* file : model_->file().mapped()) {
    const auto is_of_file = [&](const std::byte* weight) { return file->has({weight, 0}); };
    if (std::ranges::none_of(weights, is_of_file)) continue;
    lent_.push_back(TRY(device_->lend({file->bytes(), file->descriptor()})));
  }
  // Read alone: a file that is lent cannot be written there.
  for (const std::byte* weight : weights) places_[weight] = const_cast<std::byte*>(weight);
  return {};
}

std::byte* DeviceModel::find(const std::byte* on_host) const {
  const auto found = places_.find(on_host);
  return found == places_.end() ? nullptr : found->second;
}

}  // namespace ingot
