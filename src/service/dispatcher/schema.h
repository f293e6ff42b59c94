/* The tables of the dispatcher's database. A later version adds columns and tables, which a
 * database of an earlier one gets when it is opened; one of a newer version is refused. */
#ifndef LEATI_SERVICE_DISPATCHER_SCHEMA_H
#define LEATI_SERVICE_DISPATCHER_SCHEMA_H

enum { LEATI_SCHEMA_VERSION = 2 };

/* Of workers. */
enum { LEATI_WORKER_READY = 0, LEATI_WORKER_DRAINING, LEATI_WORKER_LOST, LEATI_WORKER_LEFT };
/* Of iterations. `shared`: several clients took of it at the same time; `failure`: the code of what
 * ended one of its tasks, and `why` its text, which all its clients are told. */
enum { LEATI_ITERATION_ACTIVE = 0, LEATI_ITERATION_FINISHED, LEATI_ITERATION_COLLECTED };
/* Of clients. */
enum { LEATI_CLIENT_HERE = 0, LEATI_CLIENT_RELEASED, LEATI_CLIENT_LOST };
/* Of tasks: a waiting one has no worker. `turns`: of a lost one of coordinated reads, how many came
 * to all consumers; -1: that is not settled. */
enum { LEATI_TASK_ACTIVE = 0, LEATI_TASK_DONE, LEATI_TASK_LOST, LEATI_TASK_WAITING };

/* Of snapshots: their metadata are to be written, streams are, their end is, all is. */
enum { LEATI_SAVE_NEW = 0, LEATI_SAVE_WRITING, LEATI_SAVE_ENDING, LEATI_SAVE_ENDED };

/* Lists (transfers, tags, providers, held) are JSON. */
static const char leati_schema[] =
    "CREATE TABLE meta (uid TEXT, incarnation INTEGER, next INTEGER);"
    "CREATE TABLE datasets (number INTEGER PRIMARY KEY, id TEXT UNIQUE, identity TEXT, plan TEXT,"
    " spec TEXT, cardinality INTEGER, compression INTEGER, deterministic INTEGER, why_not TEXT,"
    " providers TEXT, in_step TEXT, unsplittable TEXT);"
    "CREATE TABLE workers (number INTEGER PRIMARY KEY, uid TEXT UNIQUE, address TEXT, transfers "
    "TEXT, tags TEXT, cpus INTEGER, state INTEGER, why TEXT, share INTEGER);"
    "CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT, dataset TEXT, policy INTEGER,"
    " visitation INTEGER, consumers INTEGER, targets INTEGER, cached INTEGER, alone INTEGER,"
    " open INTEGER);"
    "CREATE UNIQUE INDEX job_names ON jobs (name) WHERE open = 1;"
    "CREATE TABLE iterations (id INTEGER PRIMARY KEY, job INTEGER, repetition INTEGER, state "
    "INTEGER, shared INTEGER, failure INTEGER, why TEXT);"
    "CREATE UNIQUE INDEX repetitions ON iterations (job, repetition) WHERE state < 2;"
    "CREATE INDEX iterations_in ON iterations (state);"
    "CREATE TABLE clients (id INTEGER PRIMARY KEY, uid TEXT UNIQUE, iteration INTEGER,"
    " consumer INTEGER, state INTEGER);"
    "CREATE INDEX clients_of ON clients (iteration);"
    "CREATE INDEX clients_here ON clients (id) WHERE state = 0;"
    "CREATE TABLE tasks (id INTEGER PRIMARY KEY, iteration INTEGER, attempt INTEGER, worker TEXT,"
    " shard INTEGER, shards INTEGER, seed INTEGER, state INTEGER, start_round INTEGER,"
    " end_round INTEGER, held TEXT, snapshot TEXT, stream INTEGER,"
    " cut INTEGER, turns INTEGER);"
    "CREATE INDEX tasks_of ON tasks (iteration, state);"
    "CREATE INDEX tasks_at ON tasks (worker, state);"
    "CREATE TABLE providers (iteration INTEGER, provider INTEGER, repetition INTEGER, next INTEGER,"
    " PRIMARY KEY (iteration, provider)) WITHOUT ROWID;"
    "CREATE TABLE leases (task INTEGER, provider INTEGER, repetition INTEGER, sequence INTEGER,"
    " first INTEGER, last INTEGER, PRIMARY KEY (task, provider, repetition, sequence))"
    " WITHOUT ROWID;"
    "CREATE TABLE snapshots (id INTEGER PRIMARY KEY, request TEXT UNIQUE, path TEXT, dataset TEXT,"
    " compression TEXT, iteration INTEGER UNIQUE, state INTEGER, code INTEGER, why TEXT,"
    " streams INTEGER, chunks INTEGER, elements INTEGER);"
    "CREATE TABLE streams (task INTEGER PRIMARY KEY, chunks INTEGER, elements INTEGER,"
    " last_attempt INTEGER, last_elements INTEGER);";

/* What version 2 added to version 1. */
static const char leati_schema_2[] = "ALTER TABLE tasks ADD COLUMN turns INTEGER DEFAULT -1;"
                                     "CREATE INDEX iterations_in ON iterations (state);"
                                     "CREATE INDEX clients_here ON clients (id) WHERE state = 0;";

#endif
