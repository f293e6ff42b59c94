/* Collectives between processes by gloo over TCP (coll/processes.h): the one file that is C++, and
 * from which no exception escapes.
 *
 * Processes find each other through the job's store. Sums run as rings: each value is combined
 * once, in the order of the ring, so that all ranks hold the same bits. Failures: whatever gloo
 * throws ends the collective; the text names what the store knows, a lost rank or who holds the
 * others up, since gloo names addresses at best. abort closes the connections, which wakes whoever
 * waits. Locks: that of the buffers that wait; the calls of a collective come from one thread at a
 * time. */
#include <atomic>
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
}

namespace {

/* Beside gloo's own prefixes of slots, which begin at 0x01. */
const uint8_t REDUCE_SCATTER_PREFIX = 0x70;

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

template <typename T>
void reduce_as(GlooCollective *c, void *data, int64_t count, leati_reducer combine) {
    gloo::AllreduceOptions options(c->context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(static_cast<T *>(data), static_cast<size_t>(count));
    options.setReduceFunction(
        [combine](void *out, const void *a, const void *b, size_t n) { combine(out, a, b, n); });
    gloo::allreduce(options);
}

/* How two values become one, and whether that is the mean already: of two ranks every value is
 * combined once, so that no pass over all of them must follow. */
leati_reducer combine_of(const leati_collective *collective, leat_dtype dtype,
                         leati_reduction reduction, bool *divided) {
    leati_reducer mean = reduction == LEATI_REDUCTION_MEAN && collective->num_ranks == 2
                             ? leati_reducer_mean_of_two(dtype)
                             : nullptr;
    *divided = mean != nullptr || reduction != LEATI_REDUCTION_MEAN;
    return mean != nullptr ? mean : leati_reducer_of(dtype, reduction);
}

leat_status all_reduce(leati_collective *collective, int, void *data, int64_t count,
                       leat_dtype dtype, leati_reduction reduction, leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || count == 0)
        return status;
    bool divided = false;
    leati_reducer combine = combine_of(collective, dtype, reduction, &divided);
    status = guarded(collective, "all_reduce", err, [&](GlooCollective *c) {
        switch (leat_dtype_size(dtype)) {
        case 1: reduce_as<uint8_t>(c, data, count, combine); break;
        case 2: reduce_as<uint16_t>(c, data, count, combine); break;
        case 4: reduce_as<uint32_t>(c, data, count, combine); break;
        default: reduce_as<uint64_t>(c, data, count, combine); break;
        }
    });
    if (status == LEAT_OK && !divided)
        leati_reducer_divide(data, count, dtype, collective->num_ranks);
    return status;
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

/* A ring: what a rank gets from its left, with its own values added, goes on to its right; after
 * all steps the rank's block has passed all others. gloo's own form takes buffers that an abort
 * could not wake. */
void scatter_ring(GlooCollective *c, const char *data, size_t block, size_t count, void *out,
                  leati_reducer combine) {
    int ranks = c->num_ranks, rank = c->rank;
    std::vector<char> sent(block), received(block);
    auto from = c->context->createUnboundBuffer(received.data(), block);
    auto to = c->context->createUnboundBuffer(sent.data(), block);
    uint64_t slot = gloo::Slot::build(REDUCE_SCATTER_PREFIX, 0);
    std::memcpy(sent.data(), data + static_cast<size_t>((rank + ranks - 1) % ranks) * block, block);
    for (int step = 1; step < ranks; step++) {
        int number = (rank + 2 * ranks - 1 - step) % ranks;
        from->recv((rank + ranks - 1) % ranks, slot, 0, block);
        to->send((rank + 1) % ranks, slot, 0, block);
        from->waitRecv(c->context->getTimeout());
        to->waitSend(c->context->getTimeout());
        combine(sent.data(), received.data(), data + static_cast<size_t>(number) * block, count);
    }
    std::memcpy(out, sent.data(), block);
}

leat_status reduce_scatter(leati_collective *collective, int, const void *data, int64_t count,
                           leat_dtype dtype, leati_reduction reduction, void *out,
                           leat_error *err) {
    leat_status status = leati_reducer_check(dtype, reduction, err);
    if (status != LEAT_OK || count == 0)
        return status;
    size_t block = static_cast<size_t>(count) * leat_dtype_size(dtype);
    bool divided = false;
    leati_reducer combine = combine_of(collective, dtype, reduction, &divided);
    status = guarded(collective, "reduce_scatter", err, [&](GlooCollective *c) {
        scatter_ring(c, static_cast<const char *>(data), block, static_cast<size_t>(count), out,
                     combine);
    });
    if (status == LEAT_OK && !divided)
        leati_reducer_divide(out, count, dtype, collective->num_ranks);
    return status;
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
        leati_fail(err, LEAT_UNAVAILABLE, "connecting the processes by gloo: %.400s", e.what());
    } catch (...) {
        leati_fail(err, LEAT_UNAVAILABLE, "connecting the processes by gloo failed");
    }
    return nullptr;
}
