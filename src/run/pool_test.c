/* The pool: order, concurrency, tokens, reserves, turns, and a pool of one under many drivers. */
#include "support/cmocka.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/driver.h"
#include "run/pool.h"
#include "run/queue.h"
#include "support/torture.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread sanitizer cannot follow threads of a forked child, and the leak checker wants to stop
 * threads that a process may leave behind. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

static leati_pool *new_pool(int threads) {
    leat_error err = {0};
    leati_pool *pool = leati_pool_new(threads, &err);
    assert_int_equal(err.code, LEAT_OK);
    assert_non_null(pool);
    assert_int_equal(leati_pool_size(pool), threads);
    return pool;
}

static void wait_for(sem_t *semaphore, int count) {
    for (int i = 0; i < count; i++) {
        while (sem_wait(semaphore) != 0) {
        }
    }
}

/* A task that says that it runs, and then waits until it is let go. */
struct blocker {
    leati_task task;
    sem_t running;
    sem_t go;
};

static void block(leati_task *task, int worker) {
    struct blocker *blocker = (struct blocker *)task;
    (void)worker;
    sem_post(&blocker->running);
    wait_for(&blocker->go, 1);
}

static void blocker_init(struct blocker *blocker) {
    blocker->task.run = block;
    sem_init(&blocker->running, 0, 0);
    sem_init(&blocker->go, 0, 0);
}

static void blocker_fini(struct blocker *blocker) {
    sem_destroy(&blocker->running);
    sem_destroy(&blocker->go);
}

/* A task that notes its letter. */
struct noter {
    leati_task task;
    char letter;
    char *notes;
};

static void note(leati_task *task, int worker) {
    struct noter *noter = (struct noter *)task;
    (void)worker;
    noter->notes[strlen(noter->notes)] = noter->letter;
}

static void urgent_tasks_go_first(void **state) {
    (void)state;
    leati_pool *pool = new_pool(1);
    struct blocker blocker;
    char notes[8] = "";
    struct noter noters[6];
    blocker_init(&blocker);
    leati_pool_submit(pool, &blocker.task, false);
    wait_for(&blocker.running, 1);
    for (int i = 0; i < 6; i++) {
        noters[i] = (struct noter){{note, NULL}, (char)('a' + i), notes};
        leati_pool_submit(pool, &noters[i].task, i % 2 == 1);
    }
    sem_post(&blocker.go);
    leati_pool_free(pool); /* queued tasks still run */
    assert_string_equal(notes, "bdface");
    blocker_fini(&blocker);
}

/* Counts how many run at once. */
struct meter {
    atomic_int running;
    atomic_int most;
    atomic_int runs;
};

struct metered {
    leati_task task;
    struct meter *meter;
    atomic_int runs;
    int worker;
};

static void meter_enter(struct meter *meter) {
    int now = atomic_fetch_add(&meter->running, 1) + 1;
    int most = atomic_load(&meter->most);
    while (now > most && !atomic_compare_exchange_weak(&meter->most, &most, now)) {
    }
}

static void meter_leave(struct meter *meter) {
    atomic_fetch_sub(&meter->running, 1);
    atomic_fetch_add(&meter->runs, 1);
}

static void run_metered(leati_task *task, int worker) {
    struct metered *metered = (struct metered *)task;
    meter_enter(metered->meter);
    for (volatile int i = 0; i < 200; i = i + 1) {
    }
    atomic_fetch_add(&metered->runs, 1);
    metered->worker = worker;
    meter_leave(metered->meter);
}

#define TASKS 2000

static void each_task_runs_once(void **state) {
    (void)state;
    static struct metered tasks[TASKS];
    memset(tasks, 0, sizeof tasks);
    struct meter meter = {0};
    leati_pool *pool = new_pool(3);
    for (int i = 0; i < TASKS; i++) {
        tasks[i].task.run = run_metered;
        tasks[i].meter = &meter;
        leati_pool_submit(pool, &tasks[i].task, i % 7 == 0);
    }
    leati_pool_free(pool);
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(atomic_load(&tasks[i].runs), 1);
        assert_in_range(tasks[i].worker, 0, 2);
    }
    assert_in_range(atomic_load(&meter.most), 1, 3);
}

/* All threads must run at once for the barrier to open. */
struct meeting {
    leati_task task;
    pthread_barrier_t *barrier;
    sem_t *done;
};

static void meet(leati_task *task, int worker) {
    struct meeting *meeting = (struct meeting *)task;
    (void)worker;
    pthread_barrier_wait(meeting->barrier);
    sem_post(meeting->done);
}

static void meet_all(leati_pool *pool, int count) {
    pthread_barrier_t barrier;
    sem_t done;
    struct meeting meetings[8];
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    sem_init(&done, 0, 0);
    for (int i = 0; i < count; i++) {
        meetings[i] = (struct meeting){{meet, NULL}, &barrier, &done};
        leati_pool_submit(pool, &meetings[i].task, false);
    }
    wait_for(&done, count);
    pthread_barrier_destroy(&barrier);
    sem_destroy(&done);
}

/* With one token tasks run one after the other, so when the last one runs all others are over. */
static void run_meter(leati_pool *pool, struct meter *meter) {
    static struct metered tasks[TASKS];
    struct blocker last;
    memset(tasks, 0, sizeof tasks);
    blocker_init(&last);
    for (int i = 0; i < TASKS; i++) {
        tasks[i].task.run = run_metered;
        tasks[i].meter = meter;
        leati_pool_submit(pool, &tasks[i].task, false);
    }
    leati_pool_submit(pool, &last.task, false);
    wait_for(&last.running, 1);
    assert_int_equal(atomic_load(&meter->runs), TASKS);
    assert_int_equal(atomic_load(&meter->most), 1);
    sem_post(&last.go);
    meet_all(pool, 1); /* the blocker is over */
    blocker_fini(&last);
}

static void reserve_makes_threads_rest(void **state) {
    (void)state;
    leati_pool *pool = new_pool(4);
    meet_all(pool, 4);
    assert_int_equal(leati_pool_tokens_reserve(pool, 2), 2);
    meet_all(pool, 2);
    assert_int_equal(leati_pool_tokens_reserve(pool, 9), 1); /* one always stays */
    assert_int_equal(leati_pool_tokens_reserve(pool, 1), 0);
    assert_int_equal(leati_pool_tokens_reserve(pool, 0), 0);
    struct meter meter = {0};
    run_meter(pool, &meter);
    leati_pool_tokens_give_back(pool, 1);
    leati_pool_tokens_give_back(pool, 2);
    meet_all(pool, 4);
    leati_pool_free(pool);
}

static void pool_is_checked(void **state) {
    (void)state;
    leat_error err = {0};
    assert_null(leati_pool_new(-1, &err));
    assert_int_equal(err.code, LEAT_INVALID_ARGUMENT);
    assert_null(leati_pool_new(100000, &(leat_error){0}));
    leati_pool_free(NULL);
    assert_true(leati_pool_num_cores() >= 1);
    leati_pool *pool = leati_pool_new(0, &err);
    assert_int_equal(leati_pool_size(pool), leati_pool_num_cores());
    leati_pool_free(pool);
}

/* The flag is raised before the token is let go, so a task that runs earlier sees it down. */
struct looker {
    leati_task task;
    atomic_bool *flag;
    bool seen;
    sem_t done;
};

static void look(leati_task *task, int worker) {
    struct looker *looker = (struct looker *)task;
    (void)worker;
    looker->seen = atomic_load(looker->flag);
    sem_post(&looker->done);
}

static void a_held_token_stops_tasks(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) {
        leati_pool *pool = new_pool(1);
        atomic_bool flag = false;
        struct looker looker = {.task.run = look, .flag = &flag};
        sem_init(&looker.done, 0, 0);
        leati_pool_token_acquire(pool);
        leati_pool_token_acquire(pool); /* nests */
        leati_pool_submit(pool, &looker.task, true);
        leati_pool_token_release(pool);
        atomic_store(&flag, true);
        leati_pool_token_release(pool);
        wait_for(&looker.done, 1);
        assert_true(looker.seen);
        leati_pool_free(pool);
        sem_destroy(&looker.done);
    }
}

static void pause_gives_the_token_up(void **state) {
    (void)state;
    leati_pool *pool = new_pool(1);
    leati_token_rest nothing = leati_pool_token_pause();
    assert_int_equal(nothing.count, 0);
    leati_pool_token_resume(nothing);
    leati_pool_token_acquire(pool);
    leati_pool_token_acquire(pool);
    leati_token_rest rest = leati_pool_token_pause();
    assert_int_equal(rest.count, 2);
    meet_all(pool, 1); /* a task can run */
    struct blocker blocker;
    blocker_init(&blocker);
    leati_pool_submit(pool, &blocker.task, false);
    wait_for(&blocker.running, 1);
    assert_false(leati_pool_token_try_resume(rest));
    sem_post(&blocker.go);
    leati_pool_token_resume(rest);
    leati_pool_token_release(pool);
    leati_pool_token_release(pool);
    leati_pool_free(pool);
    blocker_fini(&blocker);
}

/* A task that submits itself again until it is told to stop would starve a driver without turns. */
struct spinner {
    leati_task task;
    leati_pool *pool;
    atomic_bool stop;
    sem_t stopped;
};

static void spin(leati_task *task, int worker) {
    struct spinner *spinner = (struct spinner *)task;
    (void)worker;
    if (atomic_load(&spinner->stop))
        sem_post(&spinner->stopped);
    else
        leati_pool_submit(spinner->pool, task, true);
}

static void drivers_get_their_turns(void **state) {
    (void)state;
    leati_pool *pool = new_pool(1);
    struct spinner spinner = {.task.run = spin, .pool = pool};
    sem_init(&spinner.stopped, 0, 0);
    leati_pool_submit(pool, &spinner.task, false);
    for (int i = 0; i < 100; i++) {
        leati_pool_token_acquire(pool);
        leati_pool_token_release(pool);
    }
    atomic_store(&spinner.stop, true);
    wait_for(&spinner.stopped, 1);
    leati_pool_free(pool);
    sem_destroy(&spinner.stopped);
}

struct contender {
    leati_pool *pool;
    atomic_bool *stop;
};

static void contend(void *context) {
    struct contender *contender = context;
    while (!atomic_load(contender->stop)) {
        leati_pool_token_acquire(contender->pool);
        leati_pool_token_release(contender->pool);
    }
}

static void tasks_get_their_turns(void **state) {
    (void)state;
    leati_pool *pool = new_pool(1);
    atomic_bool stop = false;
    struct contender contender = {pool, &stop};
    leati_driver *drivers[3];
    for (int i = 0; i < 3; i++)
        drivers[i] = leati_driver_start("contender", contend, &contender, &(leat_error){0});
    for (int i = 0; i < 100; i++)
        meet_all(pool, 1);
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++)
        leati_driver_join(drivers[i]);
    leati_pool_free(pool);
}

/* A chain of operators: each has a driver that takes a number from the operator below, computes
 * with a token, lets the pool compute the rest, waits for it, and hands the number up through a
 * slot for one. This is how nested parallel operators use the pool. */
#define LEVELS 6
#define NUMBERS 200

struct level {
    leati_task task;
    leati_pool *pool;
    leati_gate *gate;
    leati_driver *driver;
    struct level *below; /* NULL: the source */
    struct meter *meter;
    int64_t waited_ns;
    int number;    /* gate */
    bool full;     /* gate */
    bool computed; /* gate */
};

static void add_one(leati_task *task, int worker) {
    struct level *level = (struct level *)task;
    (void)worker;
    meter_enter(level->meter);
    level->number++;
    meter_leave(level->meter);
    leati_queue_gate_lock(level->gate);
    level->computed = true;
    leati_queue_gate_wake(level->gate);
    leati_queue_gate_unlock(level->gate);
}

static int take_number(struct level *level) {
    leati_queue_gate_lock(level->gate);
    while (!level->full)
        assert_int_equal(leati_queue_gate_wait(level->gate, LEATI_WAIT_INPUT, LEATI_NO_DEADLINE,
                                               NULL, &(leat_error){0}),
                         LEAT_OK);
    int number = level->number;
    level->full = false;
    leati_queue_gate_wake(level->gate);
    leati_queue_gate_unlock(level->gate);
    return number;
}

static void wait_while(struct level *level, const bool *condition, bool value,
                       leati_wait_reason reason) {
    leati_queue_gate_lock(level->gate);
    while (*condition == value)
        assert_int_equal(leati_queue_gate_wait(level->gate, reason, LEATI_NO_DEADLINE,
                                               &level->waited_ns, &(leat_error){0}),
                         LEAT_OK);
    leati_queue_gate_unlock(level->gate);
}

static void drive(void *context) {
    struct level *level = context;
    leati_pool_token_acquire(level->pool);
    for (int i = 0; i < NUMBERS; i++) {
        int number = level->below == NULL ? i : take_number(level->below);
        wait_while(level, &level->full, true, LEATI_WAIT_CONSUMER);
        meter_enter(level->meter);
        level->number = number;
        level->computed = false;
        meter_leave(level->meter);
        leati_pool_submit(level->pool, &level->task, i % 2 == 0);
        wait_while(level, &level->computed, false, LEATI_WAIT_CPU);
        leati_queue_gate_lock(level->gate);
        level->full = true;
        leati_queue_gate_wake(level->gate);
        leati_queue_gate_unlock(level->gate);
    }
    leati_pool_token_release(level->pool);
}

static void run_chain(int threads) {
    struct meter meter = {0};
    struct level levels[LEVELS];
    memset(levels, 0, sizeof levels);
    leati_pool *pool = new_pool(threads);
    for (int i = 0; i < LEVELS; i++) {
        levels[i].task.run = add_one;
        levels[i].pool = pool;
        levels[i].below = i == 0 ? NULL : &levels[i - 1];
        levels[i].meter = &meter;
        levels[i].gate = leati_queue_gate_new("level", NULL, &(leat_error){0});
        levels[i].driver = leati_driver_start("level", drive, &levels[i], &(leat_error){0});
        assert_non_null(levels[i].driver);
    }
    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(take_number(&levels[LEVELS - 1]), i + LEVELS);
    for (int i = 0; i < LEVELS; i++)
        leati_driver_join(levels[i].driver);
    leati_pool_free(pool);
    for (int i = 0; i < LEVELS; i++)
        leati_queue_gate_free(levels[i].gate);
    assert_in_range(atomic_load(&meter.most), 1, threads);
}

static void a_pool_of_one_serves_many_drivers(void **state) {
    (void)state;
    run_chain(1);
}

static void a_pool_of_three_serves_many_drivers(void **state) {
    (void)state;
    run_chain(3);
}

static leat_status start_and_stop(void *context, leat_error *err) {
    (void)context;
    leati_pool *pool = leati_pool_new(2, err);
    if (pool == NULL)
        return torture_code(err);
    leati_pool_free(pool);
    return LEAT_OK;
}

static void pool_survives_failures(void **state) {
    (void)state;
    torture_run(start_and_stop, NULL);
}

static void shared_pool_is_one(void **state) {
    (void)state;
    leati_pool *pool = leati_pool_shared(&(leat_error){0});
    assert_non_null(pool);
    assert_ptr_equal(pool, leati_pool_shared(&(leat_error){0}));
    assert_int_equal(leati_pool_size(pool), leati_pool_num_cores());
    meet_all(pool, 1);
}

#ifndef __SANITIZE_THREAD__
static void shared_pool_restarts_after_fork(void **state) {
    (void)state;
    leati_pool *pool = leati_pool_shared(&(leat_error){0});
    leati_pool_token_acquire(pool);
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* ends the child if it hangs; the parent then fails */
        leati_pool *own = leati_pool_shared(&(leat_error){0});
        leati_pool_token_release(own);
        meet_all(own, leati_pool_size(own));
        _exit(0);
    }
    leati_pool_token_release(pool);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    meet_all(pool, leati_pool_size(pool));
}

#ifndef __SANITIZE_ADDRESS__
/* A process whose pool is busy ends without waiting for it. */
static void exit_does_not_wait(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        static struct blocker blocker;
        alarm(60);
        blocker_init(&blocker);
        leati_pool_submit(leati_pool_shared(&(leat_error){0}), &blocker.task, false);
        wait_for(&blocker.running, 1);
        exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif
#endif

#define TEST(function) cmocka_unit_test_setup_teardown(function, torture_setup, torture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(urgent_tasks_go_first),
        TEST(each_task_runs_once),
        TEST(reserve_makes_threads_rest),
        TEST(pool_is_checked),
        TEST(a_held_token_stops_tasks),
        TEST(pause_gives_the_token_up),
        TEST(drivers_get_their_turns),
        TEST(tasks_get_their_turns),
        TEST(a_pool_of_one_serves_many_drivers),
        TEST(a_pool_of_three_serves_many_drivers),
        TEST(pool_survives_failures),
        TEST(shared_pool_is_one),
#ifndef __SANITIZE_THREAD__
        TEST(shared_pool_restarts_after_fork),
#ifndef __SANITIZE_ADDRESS__
        TEST(exit_does_not_wait),
#endif
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
