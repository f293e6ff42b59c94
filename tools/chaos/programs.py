"""The Python programs that `make chaos` starts and disturbs: programs.py NAME FOLDER VARIANT.

Each goes on where the one before it was ended, and when it comes to its end all is done, however often it was started. What it keeps
is in FOLDER; what it says of itself, one line a fact, in the file `log` beside FOLDER, which no disturbance reaches:

    start                     once
    begin N                   it goes on behind step or epoch N, or at the beginning
    saved N                   a call that saves has returned: from now on this must not be lost
    over                      what was saved may be removed
    damaged WHAT              something was found that should not be there
    result ...                what an undisturbed run says, too
    ticks N                   so many elements or steps there were
"""
import base64
import errno
import hashlib
import json
import os
import resource
import sys
import threading

import leat as tf

NAME, FOLDER, VARIANT = sys.argv[1], sys.argv[2], int(sys.argv[3])
INPUTS = os.environ.get("CHAOS_INPUTS", "")
LOG = os.open(os.path.join(os.path.dirname(FOLDER), "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
ticks = 0


def note(*words):
    line, end = (" ".join(map(str, words)) + "\n").encode(), os.fstat(LOG).st_size
    if os.write(LOG, line) < len(line):    # a limit on the size of files
        os.ftruncate(LOG, end)
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))


def tick():
    """One more element or step: CHAOS_TICK=N:SIGNAL gives the program the signal at its N-th."""
    global ticks
    ticks += 1
    at, _, number = os.environ.get("CHAOS_TICK", "0:0").partition(":")
    if ticks == int(at):
        os.kill(os.getpid(), int(number))


def limit():
    """CHAOS_LIMIT=KIND:N leaves so many bytes of addresses, or so many descriptors, more than the program has now."""
    kind, _, more = os.environ.get("CHAOS_LIMIT", "").partition(":")
    if kind == "AS":
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + int(more), resource.RLIM_INFINITY))
    if kind == "NOFILE":
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) - 1 + int(more), 4096))


def path(*parts):
    return os.path.join(FOLDER, *parts)


def bits(arrays):
    """A checksum of the bits of arrays or variables."""
    found = hashlib.sha256()
    for one in arrays:
        found.update((one.numpy() if hasattr(one, "numpy") else one).tobytes())
    return found.hexdigest()[:16]


def plain(element):
    """An element in what JSON can say."""
    if isinstance(element, (tuple, list)):
        return [plain(part) for part in element]
    value = element.numpy()
    return value.decode() if isinstance(value, bytes) else value.astype(str).tolist() if value.dtype == object else value.tolist()


# ---- pipelines ----

def make_inputs():
    for part in range(3):
        with tf.io.TFRecordWriter(f"{INPUTS}/{part}.tfrecord") as writer, open(f"{INPUTS}/{part}.txt", "w", encoding="ascii") as lines:
            for row in range(16):
                writer.write(b"%d" % (100 * part + row))
                lines.write("%d\n" % (100 * part + row))


def records():
    files = tf.data.Dataset.from_tensor_slices([f"{INPUTS}/{part}.tfrecord" for part in range(3)])
    return files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=3)


def keys(x):
    return x % 3


PIPELINES = (
    lambda: tf.data.Dataset.range(20).shuffle(7, seed=4).repeat(2).batch(3).prefetch(2),
    lambda: records().shuffle(9, seed=1).map(tf.strings.length, num_parallel_calls=3).repeat(2).prefetch(3),
    lambda: tf.data.TextLineDataset([f"{INPUTS}/{part}.txt" for part in range(3)]).shuffle(11, seed=4).map(
        lambda x: tf.strings.to_number(x, tf.int64), num_parallel_calls=2).cache().repeat(2).batch(5),
    lambda: tf.data.Dataset.zip((tf.data.Dataset.range(30).filter(lambda x: x % 4 != 1), records().shuffle(5, seed=2))).repeat(2),
    lambda: tf.data.Dataset.range(24).shuffle(5, seed=3).group_by_window(keys, lambda key, part: part.batch(4), window_size=4).repeat(2),
    lambda: tf.data.Dataset.range(12).flat_map(lambda x: tf.data.Dataset.range(x % 5)).scan(
        tf.constant(0, tf.int64), lambda s, x: (s + x, s + x)).window(4, shift=2).flat_map(lambda part: part.batch(4)).repeat(2),
)


def run_pipeline():
    """The state is saved after every element, beside the elements so far."""
    iterator, taken = iter(PIPELINES[VARIANT]()), []
    if os.path.exists(path("state")):
        with open(path("state"), encoding="ascii") as file:
            kept = json.load(file)
        taken = kept["taken"]
        iterator.restore(base64.b64decode(kept["state"]))
    note("begin", len(taken))
    for element in iterator:
        taken.append(plain(element))
        with open(path("state.new"), "w", encoding="ascii") as file:
            json.dump({"taken": taken, "state": base64.b64encode(iterator.save()).decode()}, file)
        os.replace(path("state.new"), path("state"))
        note("saved", len(taken))
        tick()
    note("result", json.dumps(taken))


class Patience(threading.Thread):
    """Ends the program where nothing comes for a while: a dispatcher that cannot write waits for room, and its clients for it."""

    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.seconds, self.event = seconds, threading.Event()

    def run(self):
        while self.event.wait(self.seconds):
            self.event.clear()
        print("no element for %d seconds" % self.seconds, file=sys.stderr, flush=True)
        os._exit(1)

    def came(self):
        self.event.set()


def run_service():
    """A data service on FOLDER, with another number of workers at each start; its client saves after every element."""
    service, folder = tf.data.experimental.service, path("service")
    with open(os.path.join(os.path.dirname(FOLDER), "log"), encoding="ascii") as file:
        count = 1 + sum(line.startswith("start") for line in file) % 3
    level = ["exactly_once", "exactly_once", "at_least_once"][VARIANT]
    patience = Patience(8)
    patience.start()
    config = service.DispatcherConfig(protocol="local", work_dir=folder, fault_tolerant_mode=True, worker_timeout_ms=500)
    dispatcher = service.DispatchServer(config)
    workers = [service.WorkerServer(service.WorkerConfig(dispatcher._address, protocol="local", heartbeat_interval_ms=50))
               for _ in range(count)]
    dataset = [lambda: tf.data.Dataset.range(40).map(lambda x: x * 3), lambda: records().shuffle(9, seed=1).batch(5),
               lambda: records().shuffle(7, seed=2)][VARIANT]()
    dataset = dataset.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target, visitation=level)).repeat(2)
    iterator, taken = iter([lambda: dataset.prefetch(2), dataset.unbatch, lambda: dataset][VARIANT]()), []
    if os.path.exists(path("state")):
        with open(path("state"), encoding="ascii") as file:
            kept = json.load(file)
        taken = kept["taken"]
        iterator.restore(base64.b64decode(kept["state"]))
    note("begin", len(taken))
    for element in iterator:
        patience.came()
        taken.append(plain(element))
        with open(path("state.new"), "w", encoding="ascii") as file:
            json.dump({"taken": taken, "state": base64.b64encode(iterator.save()).decode()}, file)
        os.replace(path("state.new"), path("state"))
        note("saved", len(taken))
        tick()
    note("result", json.dumps(sorted(set(taken) if level == "at_least_once" else taken)))
    del iterator
    for server in (*workers, dispatcher):
        server.stop()


def run_saved():
    """Dataset.save and load; what is there of an earlier start must be whole or refused."""
    expected, arguments = list(range(40)), [{}, {"compression": "GZIP"}, {"shard_func": keys}][VARIANT]

    def load_saved():
        return sorted(int(x) for x in tf.data.Dataset.load(path("saved"), compression=arguments.get("compression")))
    if os.path.exists(path("saved")):
        try:
            found = load_saved()
            if found != expected:
                note("damaged", len(found), "of 40 elements without an error")
        except tf.errors.OpError as error:
            note("refused", type(error).__name__)
    tf.data.Dataset.range(40).map(lambda x: (tick_of(x), x)[1]).save(path("saved"), **arguments)
    note("result", load_saved())


def tick_of(x):
    return tf.py_function(lambda value: (tick(), value)[1], [x], tf.int64)


def run_through(dataset, rounds=2):
    """Complete readings: each gives every element once."""
    for _ in range(rounds):
        found = []
        for element in dataset:
            found.append(plain(element))
            tick()
        note("elements", json.dumps(found))
    note("result", json.dumps(found))


def run_snapshot():
    run_through(tf.data.Dataset.range(40).batch(2).snapshot(path("snap"), **[{"compression": ""}, {"compression": "GZIP"}, {}][VARIANT]))


def run_cache():
    run_through(tf.data.Dataset.range(30).map(lambda x: x * x).cache(path("cache")).batch(4))


# ---- training ----

def make_loop():
    """Weights, an optimizer, rows and a step that uses them up; the rows taken are a variable, so a checkpoint holds them."""
    steps = 12
    weight, step = tf.Variable(tf.ones([4, 3])), tf.Variable(0, dtype=tf.int64)
    taken = tf.Variable(tf.zeros([steps, 4], tf.int64))
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.build([weight])
    iterator = iter(tf.data.Dataset.range(24).shuffle(9, seed=6).repeat(2).batch(4).prefetch(2))
    checkpoint = tf.train.Checkpoint(weight=weight, step=step, taken=taken, optimizer=optimizer, iterator=iterator)

    def train():
        rows = next(iterator)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.reshape(tf.cast(rows, tf.float32), [1, 4]) @ weight / 20.0 - 1.0))
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        taken.assign(tf.where(tf.reshape(tf.range(steps) == tf.cast(step, tf.int32), [steps, 1]), rows, taken))
        step.assign_add(1)
        tick()

    def result():
        note("result", int(step), int(optimizer.iterations), bits([weight, *optimizer.variables]), json.dumps(taken.numpy().tolist()))
    return checkpoint, train, result, steps


def run_write():
    """Checkpoint.write over the same name after each step."""
    checkpoint, train, result, steps = make_loop()
    if os.path.exists(path("latest.index")):
        checkpoint.read(path("latest"))
    note("begin", int(checkpoint.step))
    while int(checkpoint.step) < steps:
        train()
        checkpoint.write(path("latest"))
        note("saved", int(checkpoint.step))
    result()


def run_manager():
    checkpoint, train, result, steps = make_loop()
    manager = tf.train.CheckpointManager(checkpoint, FOLDER, max_to_keep=[1, 2, 3][VARIANT])
    manager.restore_or_initialize()
    note("begin", int(checkpoint.step))
    while int(checkpoint.step) < steps:
        train()
        manager.save(checkpoint_number=int(checkpoint.step))
        note("saved", int(checkpoint.step))
    result()


def run_preempted():
    checkpoint, train, result, steps = make_loop()

    def leave():
        note("saved", int(checkpoint.step))
        os._exit(42)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        None, checkpoint, FOLDER, tf.distribute.experimental.TerminationConfig(exit_fn=leave))
    note("begin", int(checkpoint.step))
    while int(checkpoint.step) < steps:
        handler.run(train)
    result()


def make_model():
    keras = tf.keras
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    rows = tf.reshape(tf.cast(tf.range(36), tf.float32), [12, 3]) / 36.0
    data = tf.data.Dataset.from_tensor_slices((rows, tf.reduce_sum(rows, axis=1, keepdims=True)))
    return keras, model, data.shuffle(12, seed=5, reshuffle_each_iteration=False).batch(4)


def finish(model):
    note("result", int(model.optimizer.iterations), bits(model.weights + model.optimizer.variables))


EPOCHS, STEPS = 5, 3


def run_backup():
    """BackupAndRestore removes what it kept when training ends, so a start after that trains again."""
    keras, model, data = make_model()
    begun = []

    def begin(epoch, logs):
        if not begun:
            note("begin", epoch)
            if int(model.optimizer.iterations) != STEPS * epoch:
                note("damaged", "epoch", epoch, "with", int(model.optimizer.iterations), "iterations")
        begun.append(epoch)
    before = keras.callbacks.LambdaCallback(on_epoch_begin=begin, on_train_batch_end=lambda batch, logs: tick(),
                                            on_train_end=lambda logs: note("over"))
    after = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: note("saved", epoch + 1))
    kept = keras.callbacks.BackupAndRestore(path("backup"), double_checkpoint=VARIANT == 1)
    model.fit(data, epochs=EPOCHS, verbose=0, callbacks=[before, kept, after])
    finish(model)


def run_model_checkpoint():
    """A model per epoch, or one name that is written again; every file that is there can be loaded."""
    keras, model, data = make_model()
    name = [path("m-{epoch}.keras"), path("m.keras"), path("m.weights.h5")][VARIANT]
    epoch = 0
    model.optimizer.build(model.trainable_variables)
    for file in sorted(os.listdir(FOLDER)):
        if not file.endswith((".keras", ".h5")):
            continue
        if VARIANT == 2:
            model.load_weights(path(file))
            epoch = int(model.optimizer.iterations) // STEPS
            continue
        found = keras.models.load_model(path(file))
        if int(found.optimizer.iterations) // STEPS > epoch:
            model, epoch = found, int(found.optimizer.iterations) // STEPS
    note("begin", epoch)
    kept = keras.callbacks.ModelCheckpoint(name, save_weights_only=VARIANT == 2)
    after = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: note("saved", epoch + 1),
                                           on_train_batch_end=lambda batch, logs: tick())
    model.fit(data, epochs=EPOCHS, initial_epoch=epoch, verbose=0, callbacks=[kept, after])
    finish(model)


def run_workers():
    """Several processes, each with its part of the rows; the first one's manager writes, all restore."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    me, steps = strategy.cluster_resolver.task_id or 0, 10
    with strategy.scope():
        weight, step = tf.Variable(tf.ones([3])), tf.Variable(0, dtype=tf.int64)
        optimizer = tf.keras.optimizers.Adam(0.1)
        optimizer.build([weight])
    checkpoint = tf.train.Checkpoint(weight=weight, step=step, optimizer=optimizer)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(strategy.cluster_resolver, checkpoint, FOLDER) if VARIANT else None
    manager = None if VARIANT else tf.train.CheckpointManager(checkpoint, FOLDER if me == 0 else FOLDER + "/unused", max_to_keep=2)
    latest = None if VARIANT else tf.train.latest_checkpoint(FOLDER)
    if latest:
        checkpoint.read(latest)
    if me == 0:
        note("begin", int(step))

    @tf.function
    def replica():
        share = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + tf.cast(step, tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(weight - share))
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

    def train():
        strategy.run(replica)
        step.assign_add(1)
        tick()
    while int(step) < steps:
        if handler:
            handler.run(train)
            continue
        train()
        if me == 0:
            manager.save(checkpoint_number=int(step))
            note("saved", int(step))
    if me == 0:
        note("result", int(step), int(optimizer.iterations), bits([weight, *optimizer.variables]))


def run_events():
    """A scalar per step; what flush returned for must be readable, whatever comes behind it."""
    writer = tf.summary.create_file_writer(FOLDER)
    with open(os.path.join(os.path.dirname(FOLDER), "log"), encoding="ascii") as file:
        first = max([0, *(int(line.split()[1]) for line in file if line.startswith("saved"))])
    note("begin", first)
    for step in range(first, 20):
        with writer.as_default():
            tf.summary.scalar("loss", float(step), step=step)
        writer.flush()
        note("saved", step + 1)
        tick()
    writer.close()
    note("result", "written")


PROGRAMS = {"inputs": make_inputs, "pipeline": run_pipeline, "service": run_service, "saved": run_saved, "snapshot": run_snapshot,
            "cache": run_cache, "write": run_write, "manager": run_manager, "preempted": run_preempted, "backup": run_backup,
            "model_checkpoint": run_model_checkpoint, "workers": run_workers, "events": run_events}

if __name__ == "__main__":
    note("start")
    limit()
    PROGRAMS[NAME]()
    note("ticks", ticks)
