/* What gloo allows: the sum of 100 MB of float32 between two processes over loopback, by gloo's own
 * ring and its own addition, nothing around it.
 *
 *   limit_gloo SECONDS
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "bench.h"
}

namespace {

const size_t VALUES = 25000000;

void barrier(const std::shared_ptr<gloo::Context> &context) {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
}

double reduce(const std::shared_ptr<gloo::Context> &context, std::vector<float> &values) {
    barrier(context);
    double start = bench_now();
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction(
        static_cast<void (*)(void *, const void *, const void *, size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
    for (float &value : values)
        value /= 2;
    barrier(context);
    return bench_now() - start;
}

bool go_on(const std::shared_ptr<gloo::Context> &context, size_t rounds, double left) {
    int more = rounds < 3 || left > 0;
    gloo::BroadcastOptions options(context);
    options.setRoot(0);
    options.setOutput(&more, 1);
    gloo::broadcast(options);
    return more != 0;
}

void run(const std::string &folder, int rank, double seconds) {
    gloo::transport::tcp::attr where;
    where.hostname = "127.0.0.1";
    auto device = gloo::transport::tcp::CreateDevice(where);
    gloo::rendezvous::FileStore store(folder);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, 2);
    context->connectFullMesh(store, device);
    std::vector<float> values(VALUES, static_cast<float>(rank + 1));
    std::vector<double> times;
    double start = bench_now(), cpu = bench_cpu();
    reduce(context, values);
    do
        times.push_back(reduce(context, values));
    while (go_on(context, times.size(), start + seconds - bench_now()));
    if (rank != 0)
        return;
    std::sort(times.begin(), times.end());
    bench_result result = {};
    result.unit = "reductions/s";
    result.units = 1;
    result.seconds = times[times.size() / 2];
    result.cpu_seconds = bench_cpu() - cpu;
    result.mean = values[VALUES - 1];
    bench_print(&result);
    if (getenv("LEAT_BENCH_EXPLAIN") != nullptr)
        fprintf(stderr, "%.1f ms of the processor per reduction\n",
                1e3 * result.cpu_seconds / static_cast<double>(times.size() + 1));
}

} // namespace

int main(int argc, char **argv) {
    char folder[] = "/tmp/limit_gloo.XXXXXX";
    if (argc != 2 || mkdtemp(folder) == nullptr) {
        fprintf(stderr, "usage: limit_gloo SECONDS\n");
        return 2;
    }
    fflush(stdout);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(folder, 1, atof(argv[1]));
        _exit(0);
    }
    run(folder, 0, atof(argv[1]));
    int status = 0;
    waitpid(other, &status, 0);
    std::string clean = std::string("rm -r ") + folder;
    return system(clean.c_str()) == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
