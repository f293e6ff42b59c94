/* Collectives between processes by gloo over TCP (coll/processes.h): the one file that is C++, and
 * from which no exception escapes.
 *
 * Processes find each other through the job's store. Sums are leat's own over gloo's messages: each
 * rank gets its part of all ranks' values and adds it in rank order, where gloo's rings add in the
 * order of the ring, so that all ranks hold the bits that other collectives give. Failures:
 * whatever gloo throws ends the collective; the text names what the store knows, a lost rank or who
 * holds the others up, since gloo names addresses at best. abort closes the connections, which
 * wakes whoever waits. Locks: that of the buffers that wait; the calls of a collective come from
 * one thread at a time. */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <csignal>
#include <ctime>
#include <pthread.h>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

extern "C" {
#include "base/alloc.h"
#include "base/error.h"
#include "coll/failure.h"
#include "coll/processes.h"
#include "coll/reducer.h"
#include "coll/wire.h"
}

namespace {

/* Beside gloo's own prefixes of slots, which begin at 0x01. */
const uint8_t SUM_PREFIX = 0x70;

/* Of a sum, that are exchanged at once. */
const int64_t PIECE_BYTES = 1 << 20;

/* gloo's view of the job's store. */
class JobStore : public gloo::rendezvous::Store {
  public:
    JobStore(leati_store *store, int64_t timeout_ms) : store_(store), timeout_ms_(timeout_ms) {
    }

    void set(const std::string &key, const std::vector<char> &data) override {
        leat_error err = {};
        check(leati_store_set(store_, ("gloo/" + key).c_str(), data.data(), data.size(), &err),
              err);
    }

    std::vector<char> get(const std::string &key) override {
        return fetch(key, timeout_ms_);
    }

    void wait(const std::vector<std::string> &keys) override {
        wait(keys, std::chrono::milliseconds(timeout_ms_));
    }

    void wait(const std::vector<std::string> &keys,
              const std::chrono::milliseconds &timeout) override {
        for (const std::string &key : keys)
            fetch(key, timeout.count());
    }

  private:
    static void check(leat_status status, const leat_error &err) {
        if (status != LEAT_OK)
            throw std::runtime_error(err.text);
    }

    std::vector<char> fetch(const std::string &key, int64_t timeout_ms) {
        leat_error err = {};
        char *value = nullptr;
        size_t size = 0;
        check(leati_store_get(store_, ("gloo/" + key).c_str(), timeout_ms, &value, &size, &err),
              err);
        std::vector<char> bytes(value, value + size);
        leati_free(value);
        return bytes;
    }

    leati_store *store_;
    int64_t timeout_ms_;
};

/* Buffers that wait, so that abort can wake them. */
class Waiters {
  public:
    void add(gloo::transport::UnboundBuffer *buffer) {
        std::lock_guard<std::mutex> guard(lock_);
        buffers_.insert(buffer);
    }

    void remove(gloo::transport::UnboundBuffer *buffer) {
        std::lock_guard<std::mutex> guard(lock_);
        buffers_.erase(buffer);
    }

    void abort() {
        std::lock_guard<std::mutex> guard(lock_);
        aborted_ = true;
        for (gloo::transport::UnboundBuffer *buffer : buffers_) {
            buffer->abortWaitRecv();
            buffer->abortWaitSend();
        }
    }

    /* Ends a wait that was aborted, now or before it began. */
    bool check(bool completed) const {
        if (!completed || aborted_)
            throw std::runtime_error("aborted");
        return completed;
    }

  private:
    std::mutex lock_; /* of `buffers_` */
    std::set<gloo::transport::UnboundBuffer *> buffers_;
    std::atomic<bool> aborted_{false};
};

class WatchedBuffer : public gloo::transport::UnboundBuffer {
  public:
    WatchedBuffer(std::unique_ptr<gloo::transport::UnboundBuffer> inner,
                  std::shared_ptr<Waiters> waiters)
        : UnboundBuffer(inner->ptr, inner->size), inner_(std::move(inner)),
          waiters_(std::move(waiters)) {
        waiters_->add(inner_.get());
    }

    ~WatchedBuffer() override {
        waiters_->remove(inner_.get());
    }

    bool waitRecv(int *rank, std::chrono::milliseconds timeout) override {
        waiters_->check(true);
        return waiters_->check(inner_->waitRecv(rank, timeout));
    }

    bool waitSend(int *rank, std::chrono::milliseconds timeout) override {
        waiters_->check(true);
        return waiters_->check(inner_->waitSend(rank, timeout));
    }

    void abortWaitRecv() override {
        inner_->abortWaitRecv();
    }

    void abortWaitSend() override {
        inner_->abortWaitSend();
    }

    void send(int to, uint64_t slot, size_t offset, size_t bytes) override {
        inner_->send(to, slot, offset, bytes);
    }

    void recv(int from, uint64_t slot, size_t offset, size_t bytes) override {
        inner_->recv(from, slot, offset, bytes);
    }

    void recv(std::vector<int> from, uint64_t slot, size_t offset, size_t bytes) override {
        inner_->recv(std::move(from), slot, offset, bytes);
    }

  private:
    std::unique_ptr<gloo::transport::UnboundBuffer> inner_;
    std::shared_ptr<Waiters> waiters_;
};

class WatchedTransport : public gloo::transport::Context {
  public:
    WatchedTransport(std::shared_ptr<gloo::transport::Context> inner,
                     std::shared_ptr<Waiters> waiters)
        : Context(inner->rank, inner->size), inner_(std::move(inner)),
          waiters_(std::move(waiters)) {
        setTimeout(inner_->getTimeout());
    }

    std::unique_ptr<gloo::transport::Pair> &getPair(int other) override {
        return inner_->getPair(other);
    }

    std::unique_ptr<gloo::transport::Pair> &createPair(int other) override {
        return inner_->createPair(other);
    }

    std::unique_ptr<gloo::transport::UnboundBuffer> createUnboundBuffer(void *data,
                                                                        size_t bytes) override {
        return std::unique_ptr<gloo::transport::UnboundBuffer>(
            new WatchedBuffer(inner_->createUnboundBuffer(data, bytes), waiters_));
    }

  private:
    std::shared_ptr<gloo::transport::Context> inner_;
    std::shared_ptr<Waiters> waiters_;
};

class JobContext : public gloo::rendezvous::Context {
  public:
    using Context::Context;

    /* Once connected. */
    void watch(const std::shared_ptr<Waiters> &waiters) {
        transportContext_ = std::make_shared<WatchedTransport>(transportContext_, waiters);
    }
};

/* gloo writes to connections that others have closed, which would end the process: while this
 * lives, its thread, and threads that it starts, do not get the signal. One that came is taken
 * away, unless it had been waiting before. */
class NoPipeSignal {
  public:
    NoPipeSignal() {
        sigset_t pending;
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        sigpending(&pending);
        waited_ = sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }

    ~NoPipeSignal() {
        const timespec now = {0, 0};
        if (!waited_ && sigismember(&before_, SIGPIPE) == 0)
            (void)sigtimedwait(&pipe_, nullptr, &now);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    NoPipeSignal(const NoPipeSignal &) = delete;
    NoPipeSignal &operator=(const NoPipeSignal &) = delete;

  private:
    sigset_t pipe_, before_;
    bool waited_;
};

struct GlooCollective : leati_collective {
    explicit GlooCollective(leati_failure *reason) : failure(reason, leati_failure_free) {
    }

    leati_store *store;
    int rank;
    int64_t timeout_ms;
    std::shared_ptr<JobContext> context;
    std::shared_ptr<Waiters> waiters = std::make_shared<Waiters>();
    uint64_t calls = 0;
    std::vector<char> received; /* of the other ranks, for sums */
    std::unique_ptr<leati_failure, void (*)(leati_failure *)> failure;
};

/* What gloo said, and what the store knows of the others. */
leat_status broken(GlooCollective *c, const char *what, const char *said, leat_error *err) {
    leati_failure *failure = c->failure.get();
    if (leati_failure_happened(failure))
        return leati_failure_refuse(failure, err); /* by abort, which knows more */
    char stalled[300] = "";
    leat_error reason = {};
    bool late = std::strstr(said, "Timed out") != nullptr;
    /* Whoever ended may be known in a moment. */
    for (int i = 0; i < 100 && !leati_failure_happened(failure) && !late; i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (late) {
        leati_failure_late(c->store, c->rank, c->timeout_ms, what, "another process", &reason);
    } else {
        leati_store_stalled(c->store, stalled, sizeof stalled);
        leati_fail(&reason, LEAT_ABORTED, "%s between processes: %.200s%s%s", what, said,
                   stalled[0] ? "; " : "", stalled);
    }
    return leati_failure_happened(failure) ? leati_failure_refuse(failure, err)
                                           : leati_failure_report(failure, &reason, err);
}

/* Runs one call of gloo's. */
template <typename Call>
leat_status guarded(leati_collective *collective, const char *what, leat_error *err, Call call) {
    auto *c = static_cast<GlooCollective *>(collective);
    if (leati_failure_happened(c->failure.get()))
        return leati_failure_refuse(c->failure.get(), err);
    leati_store_note(c->store, ++c->calls, LEATI_PHASE_COLLECTIVE);
    leat_status status = LEAT_OK;
    NoPipeSignal guard;
    try {
        call(c);
    } catch (const std::bad_alloc &) {
        leat_error reason = {};
        leati_fail(&reason, LEAT_RESOURCE_EXHAUSTED, "%s between processes: out of memory", what);
        status = leati_failure_report(c->failure.get(), &reason, err);
    } catch (const std::exception &e) {
        status = broken(c, what, e.what(), err);
    } catch (...) {
        status = broken(c, what, "an unknown failure", err);
    }
    leati_store_note(c->store, c->calls, LEATI_PHASE_COMPUTE);
    return status;
}

/* ---- sums ---- */

/* A rank's part of what is exchanged. */
struct Part {
    size_t offset, bytes;
};

using Buffer = gloo::transport::UnboundBuffer;

/* An exchange under way: every other rank is sent its part of `from`, and one from each is taken
 * into `to`. A part without bytes is not exchanged: both sides know how long it is. */
class Trade {
  public:
    Trade(GlooCollective *c, uint32_t phase, Buffer *from, const std::vector<Part> &sent,
          Buffer *to, const std::vector<Part> &taken)
        : timeout_(c->context->getTimeout()), from_(from), to_(to) {
        uint64_t slot = gloo::Slot::build(SUM_PREFIX, phase);
        int ranks = c->num_ranks;
        for (int step = 1; step < ranks; step++) {
            int other = (c->rank + ranks - step) % ranks;
            const Part &part = taken[static_cast<size_t>(other)];
            if (part.bytes > 0) {
                to->recv(other, slot, part.offset, part.bytes);
                receives_++;
            }
        }
        /* Each begins with its neighbour, so that not all send to one rank at once. */
        for (int step = 1; step < ranks; step++) {
            int other = (c->rank + step) % ranks;
            const Part &part = sent[static_cast<size_t>(other)];
            if (part.bytes > 0) {
                from->send(other, slot, part.offset, part.bytes);
                sends_++;
            }
        }
    }

    void wait() {
        for (; receives_ > 0; receives_--)
            to_->waitRecv(timeout_);
        for (; sends_ > 0; sends_--)
            from_->waitSend(timeout_);
    }

  private:
    std::chrono::milliseconds timeout_;
    Buffer *from_, *to_;
    int receives_ = 0, sends_ = 0;
};

/* Of each rank `bytes` bytes: this rank's at `own`, the others' at `others`, where rank r's begin
 * at r * bytes. Combined in rank order into `out`, which may be `own`. */
void combine_in_order(const GlooCollective *c, leati_combination how, const char *own,
                      const char *others, size_t bytes, char *out) {
    std::vector<const void *> inputs(static_cast<size_t>(c->num_ranks));
    for (size_t r = 0; r < inputs.size(); r++)
        inputs[r] = static_cast<int>(r) == c->rank ? own : others + r * bytes;
    void *outputs[] = {out};
    leati_reducer_combine(how, inputs.data(), c->num_ranks, 0, outputs, 1, 0,
                          static_cast<int64_t>(bytes / leat_dtype_size(how.dtype)));
}

/* A piece of a sum: every rank gets its part of all ranks' values, combines it, and sends it to
 * all. Each value is combined by one rank and crosses the network as often as in a ring. */
class Piece {
  public:
    Piece(GlooCollective *c, char *data, int64_t count, size_t item, char *memory)
        : c_(c), data_(data), memory_(memory), parts_(static_cast<size_t>(c->num_ranks)) {
        size_t ranks = parts_.size(), values = static_cast<size_t>(count);
        size_t size = (values + ranks - 1) / ranks;
        for (size_t r = 0; r < ranks; r++) {
            size_t begin = std::min(r * size, values), end = std::min(begin + size, values);
            parts_[r] = {begin * item, (end - begin) * item};
        }
        mine_ = parts_[static_cast<size_t>(c->rank)];
        std::vector<Part> places(ranks);
        for (size_t r = 0; r < ranks; r++)
            places[r] = {r * mine_.bytes, mine_.bytes};
        own_ = c->context->createUnboundBuffer(data, values * item);
        others_ = c->context->createUnboundBuffer(memory, std::max(ranks * mine_.bytes, size_t{1}));
        trade_.reset(new Trade(c, 1, own_.get(), parts_, others_.get(), places));
    }

    void combine(leati_combination how) {
        trade_->wait();
        char *mine = data_ + mine_.offset;
        combine_in_order(c_, how, mine, memory_, mine_.bytes, mine);
        std::vector<Part> sums(parts_.size(), mine_);
        trade_.reset(new Trade(c_, 2, own_.get(), sums, own_.get(), parts_));
    }

    void finish() {
        trade_->wait();
    }

  private:
    GlooCollective *c_;
    char *data_, *memory_;
    std::vector<Part> parts_; /* of all ranks */
    Part mine_{0, 0};
    std::unique_ptr<Buffer> own_, others_;
    std::unique_ptr<Trade> trade_; /* after the buffers, which it uses */
};

/* While a piece is combined the next one's values and the last one's sums are on their way. */
void sum_in_order(GlooCollective *c, leati_combination how, char *data, int64_t count) {
    size_t item = leat_dtype_size(how.dtype), ranks = static_cast<size_t>(c->num_ranks);
    int64_t most = PIECE_BYTES / static_cast<int64_t>(item);
    /* Parts are rounded up to whole values. */
    size_t memory = static_cast<size_t>(std::min(count, most)) * item + ranks * item;
    std::unique_ptr<Piece> pieces[3];
    int64_t number = 0;
    c->received.resize(std::max(c->received.size(), 2 * memory));
    for (int64_t at = 0; at < count; at += most, number++) {
        std::unique_ptr<Piece> &last = pieces[(number + 2) % 3], &next = pieces[number % 3];
        if (next != nullptr)
            next->finish();
        next.reset(new Piece(c, data + at * static_cast<int64_t>(item), std::min(count - at, most),
                             item, c->received.data() + (number % 2 == 0 ? 0 : memory)));
        if (last != nullptr)
            last->combine(how);
    }
    pieces[(number + 2) % 3]->combine(how);
    for (int64_t i = 0; i < 3; i++) {
        std::unique_ptr<Piece> &left = pieces[(number + i) % 3];
        if (left != nullptr)
            left->finish();
    }
}

/* Of two ranks a sum has but one order, and gloo's ring goes on in smaller steps. */
template <typename T>
void sum_of_two(GlooCollective *c, leati_combination how, char *data, int64_t count) {
    leati_reducer combine = how.reduction == LEATI_REDUCTION_MEAN
                                ? leati_reducer_mean_of_two(how.dtype)
                                : leati_reducer_of(how.dtype, how.reduction);
    gloo::AllreduceOptions options(c->context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(reinterpret_cast<T *>(data), static_cast<size_t>(count));
    options.setReduceFunction(
        [combine](void *out, const void *a, const void *b, size_t n) { combine(out, a, b, n); });
    gloo::allreduce(options);
}

leat_status all_reduce(leati_collective *collective, int, void *data, int64_t count,
                       leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || count == 0)
        return status;
    return guarded(collective, "all_reduce", err, [&](GlooCollective *c) {
        leati_combination how = {dtype, reduction};
        auto sum = sum_in_order;
        size_t item = leat_dtype_size(dtype);
        /* Halves are widened, divided and rounded once. */
        if (c->num_ranks == 2 && item != 2)
            sum = item == 1   ? sum_of_two<uint8_t>
                  : item == 4 ? sum_of_two<uint32_t>
                              : sum_of_two<uint64_t>;
        else if (c->num_ranks == 2 && dtype != LEAT_FLOAT16 && dtype != LEAT_BFLOAT16)
            sum = sum_of_two<uint16_t>;
        sum(c, how, static_cast<char *>(data), count);
    });
}

leat_status all_gather(leati_collective *collective, int rank, const void *data, int64_t count,
                       leat_dtype dtype, void *out, leat_error *err) {
    size_t bytes = static_cast<size_t>(count) * leat_dtype_size(dtype);
    char *own = static_cast<char *>(out) + static_cast<size_t>(rank) * bytes;
    if (bytes == 0)
        return LEAT_OK;
    if (own != data)
        std::memcpy(own, data, bytes);
    return guarded(collective, "all_gather", err, [&](GlooCollective *c) {
        gloo::AllgatherOptions options(c->context);
        options.setInput(own, bytes);
        options.setOutput(static_cast<char *>(out),
                          bytes * static_cast<size_t>(collective->num_ranks));
        gloo::allgather(options);
    });
}

leat_status reduce_scatter(leati_collective *collective, int, const void *data, int64_t count,
                           leat_dtype dtype, leati_reduction reduction, void *out,
                           leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || count == 0)
        return status;
    size_t block = static_cast<size_t>(count) * leat_dtype_size(dtype);
    return guarded(collective, "reduce_scatter", err, [&](GlooCollective *c) {
        size_t ranks = static_cast<size_t>(c->num_ranks);
        std::vector<Part> places(ranks);
        for (size_t r = 0; r < ranks; r++)
            places[r] = {r * block, block};
        c->received.resize(std::max(c->received.size(), ranks * block));
        /* Only sent from. */
        char *own = static_cast<char *>(const_cast<void *>(data));
        auto from = c->context->createUnboundBuffer(own, ranks * block);
        auto to = c->context->createUnboundBuffer(c->received.data(), ranks * block);
        Trade(c, 3, from.get(), places, to.get(), places).wait();
        combine_in_order(c, {dtype, reduction}, own + static_cast<size_t>(c->rank) * block,
                         c->received.data(), block, static_cast<char *>(out));
    });
}

leat_status broadcast(leati_collective *collective, int, int root, void *data, int64_t count,
                      leat_dtype dtype, leat_error *err) {
    size_t bytes = static_cast<size_t>(count) * leat_dtype_size(dtype);
    leat_status status = leati_reducer_check_root(root, collective->num_ranks, err);
    if (status != LEAT_OK)
        return status;
    if (bytes == 0)
        return LEAT_OK;
    return guarded(collective, "broadcast", err, [&](GlooCollective *c) {
        gloo::BroadcastOptions options(c->context);
        options.setRoot(root);
        options.setOutput(static_cast<char *>(data), bytes);
        gloo::broadcast(options);
    });
}

leat_status barrier(leati_collective *collective, int, leat_error *err) {
    return guarded(
        collective, "barrier", err,
        [](GlooCollective *c) {
            gloo::BarrierOptions options(c->context);
            gloo::barrier(options);
        });
}

void abort_all(leati_collective *collective, const leat_error *reason) {
    auto *c = static_cast<GlooCollective *>(collective);
    NoPipeSignal guard;
    leati_failure_set(c->failure.get(), reason);
    c->waiters->abort();
}

void close_all(leati_collective *collective) {
    NoPipeSignal guard;
    delete static_cast<GlooCollective *>(collective);
}

const leati_collective_ops gloo_ops = {"gloo",  all_reduce, all_gather, reduce_scatter, broadcast,
                                       barrier, nullptr,    nullptr,    abort_all,      close_all};

} // namespace

extern "C" leati_collective *leati_coll_gloo_new(leati_store *store, int rank, int num_ranks,
                                                 int64_t timeout_ms, leat_error *err) {
    if (leati_processes_check_clear(store, "gloo", err) != LEAT_OK)
        return nullptr;
    NoPipeSignal guard;
    leati_failure *failure = leati_failure_new("gloo", err);
    if (failure == nullptr)
        return nullptr;
    try {
        std::unique_ptr<GlooCollective> c(new GlooCollective(failure));
        c->ops = &gloo_ops;
        c->num_ranks = num_ranks;
        c->store = store;
        c->rank = rank;
        c->timeout_ms = timeout_ms;
        gloo::transport::tcp::attr where;
        where.hostname = leati_store_host(store);
        auto device = gloo::transport::tcp::CreateDevice(where);
        c->context = std::make_shared<JobContext>(rank, num_ranks);
        c->context->setTimeout(std::chrono::milliseconds(timeout_ms));
        JobStore view(store, timeout_ms);
        c->context->connectFullMesh(view, device);
        c->context->watch(c->waiters);
        return c.release();
    } catch (const std::exception &e) {
        if (!leati_wire_lacks_descriptors("connecting the processes by gloo", err))
            leati_fail(err, LEAT_UNAVAILABLE, "connecting the processes by gloo: %.400s", e.what());
    } catch (...) {
        leati_fail(err, LEAT_UNAVAILABLE, "connecting the processes by gloo failed");
    }
    return nullptr;
}
