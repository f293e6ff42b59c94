/* The processes of a job: see job.h.
 *
 * Happy path: each process has a process group of its own; its lines are printed with its name
 * before them; when all members have ended well the helpers are ended, and the status is 0.
 * Failures: the first member that fails, or needed helper that ends, is named, the others get
 * SIGTERM and, if that does not end them, SIGKILL. Ctrl-C and SIGTERM are passed on. No locks: one
 * thread. */
#include "cli/job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/say.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 16, NUM_STREAMS = 2, NO_PROGRAM = 127 };

/* What a process prints on one of its streams. */
typedef struct stream {
    int from; /* -1: ended */
    FILE *to;
    leati_text line;
} stream;

typedef struct process {
    const leati_job_program *program;
    pid_t pid; /* 0: has ended */
    int status;
    int64_t again; /* so often it may be started again */
    stream streams[NUM_STREAMS];
} process;

typedef struct job {
    const leati_job_options *options;
    process *processes;
    int count;
    int members, helpers; /* that run */
    int signals;          /* a signalfd */
    sigset_t outside;
    const process *failed; /* which failed first; NULL: none */
    int interrupted;       /* the signal that ended the job; 0: none */
    int64_t kill_ns;       /* when those who are left get SIGKILL */
} job;

// ---- output ----

static void print_line(const job *j, const process *p, stream *s) {
    if (!j->options->plain)
        fprintf(s->to, "[%s] ", p->program->name);
    (void)fwrite(s->line.data, 1, s->line.size, s->to);
    fputc('\n', s->to);
    /* At once: a user watches, and a crash must not swallow lines. */
    fflush(s->to);
    s->line.size = 0;
}

static void end_stream(const job *j, const process *p, stream *s) {
    /* What a process wrote without a newline at its end. */
    if (s->line.size > 0)
        print_line(j, p, s);
    if (s->from >= 0)
        close(s->from);
    s->from = -1;
}

/* Takes what has come; whole lines are printed. */
static void read_stream(const job *j, const process *p, stream *s) {
    char bytes[4096];
    ssize_t got = read(s->from, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n')
            leati_text_add(&s->line, &bytes[i], 1);
        /* A program that never ends its line must not fill the memory. */
        if (bytes[i] == '\n' || s->line.size >= LONGEST_LINE)
            print_line(j, p, s);
    }
    if (got <= 0)
        end_stream(j, p, s);
}

/* What is there now, for a process that has ended and is started again. */
static void drain_stream(const job *j, const process *p, stream *s) {
    struct pollfd polled = {.fd = s->from, .events = POLLIN};
    while (s->from >= 0 && poll(&polled, 1, 0) > 0)
        read_stream(j, p, s);
    end_stream(j, p, s);
}

// ---- starting ----

static bool set_variables(const leati_job_variable *variables) {
    for (int i = 0; variables != NULL && variables[i].name != NULL; i++)
        if (setenv(variables[i].name, variables[i].value, 1) != 0)
            return false;
    return true;
}

/* The child's side of a fork; does not return. */
static void become(const job *j, pid_t parent, const int *ends, const leati_job_program *program) {
    /* Here and by the parent: whichever comes first, the group is there before either goes on. */
    (void)setpgid(0, 0);
    /* If launch is killed nobody else would end this process. It may have died before this call:
     * hence the question about the parent. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Several processes that read one terminal would each get a part of what is typed. */
    int nothing = open("/dev/null", O_RDONLY);
    if (getppid() != parent || nothing < 0 || dup2(nothing, 0) < 0 || dup2(ends[0], 1) < 0 ||
        dup2(ends[1], 2) < 0 || !set_variables(j->options->variables) ||
        !set_variables(program->variables))
        _exit(NO_PROGRAM);
    /* Blocked signals are inherited, also by the program that is executed. */
    (void)sigprocmask(SIG_SETMASK, &j->outside, NULL);
    execvp(program->arguments[0], program->arguments);
    /* Goes through the pipe, so that it gets the process's name. */
    fprintf(stderr, "leat: launch: cannot run %s: %s\n", program->arguments[0], strerror(errno));
    fflush(stderr);
    _exit(NO_PROGRAM);
}

static bool start_process(job *j, process *p) {
    int pipes[NUM_STREAMS][2] = {{-1, -1}, {-1, -1}};
    bool good = pipe2(pipes[0], O_CLOEXEC) == 0 && pipe2(pipes[1], O_CLOEXEC) == 0;
    pid_t parent = getpid(), pid = good ? fork() : -1;
    if (pid == 0)
        become(j, parent, (const int[]){pipes[0][1], pipes[1][1]}, p->program);
    for (int i = 0; i < NUM_STREAMS; i++) {
        /* The writing ends belong to the child: while one is open here, reading would never end. */
        if (pipes[i][1] >= 0)
            close(pipes[i][1]);
        if (pid < 0 && pipes[i][0] >= 0)
            close(pipes[i][0]);
        else if (pid > 0) {
            drain_stream(j, p, &p->streams[i]);
            p->streams[i].from = pipes[i][0];
        }
    }
    if (pid < 0) {
        leati_say_error("launch: %s cannot be started: %s", p->program->name, strerror(errno));
        return false;
    }
    (void)setpgid(pid, pid);
    p->pid = pid;
    *(p->program->helper ? &j->helpers : &j->members) += 1;
    return true;
}

// ---- the end ----

static void signal_all(const job *j, int number) {
    for (int i = 0; i < j->count; i++)
        if (j->processes[i].pid > 0)
            (void)kill(-j->processes[i].pid, number);
}

static void end_others(job *j, int number) {
    /* Once: the grace of a second failure must not put off the end. */
    if (j->kill_ns == LEATI_NO_DEADLINE) {
        signal_all(j, number);
        j->kill_ns = leati_now_ns() + (int64_t)(j->options->grace * 1e9);
    }
}

static int status_of(const process *p) {
    /* As shells do. A helper that ended well has left its job, which is no success. */
    int status = WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
    return status == 0 ? LEATI_EXIT_FAILURE : status;
}

/* How a process ended, and what follows from it. */
static void say_end(const process *p, const char *then) {
    if (WIFSIGNALED(p->status))
        leati_say_error("launch: %s was ended by signal %d (%s)%s", p->program->name,
                        WTERMSIG(p->status), strsignal(WTERMSIG(p->status)), then);
    else
        leati_say_error("launch: %s ended with status %d%s", p->program->name,
                        WEXITSTATUS(p->status), then);
}

/* Can the helper be done without? One of its kind is left. */
static bool is_spared(const job *j, const process *p) {
    for (int i = 0; i < j->count && !p->program->needed; i++)
        if (j->processes[i].pid > 0 && j->processes[i].program->helper &&
            !j->processes[i].program->needed)
            return true;
    return false;
}

static void fail_job(job *j, process *p) {
    say_end(p, j->members + j->helpers > 0 ? "; ending the others" : "");
    j->failed = p;
    end_others(j, SIGTERM);
}

static void note_helper(job *j, process *p) {
    if (p->again > 0) {
        p->again--;
        say_end(p, "; starting it again");
        if (start_process(j, p))
            return;
    } else if (is_spared(j, p)) {
        say_end(p, "; the others of its kind go on");
        return;
    }
    fail_job(j, p);
}

static void note_end(job *j, process *p) {
    /* What the process itself started ends with it. */
    (void)kill(-p->pid, SIGKILL);
    p->pid = 0;
    *(p->program->helper ? &j->helpers : &j->members) -= 1;
    if (j->kill_ns != LEATI_NO_DEADLINE)
        return; /* asked to end */
    if (p->program->helper)
        note_helper(j, p);
    else if (p->status != 0)
        fail_job(j, p);
    else if (j->members == 0)
        end_others(j, SIGINT); /* nobody reads what helpers would still give */
}

static void collect(job *j) {
    for (int i = 0; i < j->count; i++) {
        process *p = &j->processes[i];
        /* Each by its number: one SIGCHLD may stand for several processes. */
        if (p->pid > 0 && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
            note_end(j, p);
    }
}

static void take_signal(job *j) {
    struct signalfd_siginfo info;
    while (read(j->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD && j->interrupted == 0) {
            j->interrupted = (int)info.ssi_signo;
            end_others(j, j->interrupted);
        } else if (info.ssi_signo != SIGCHLD) {
            signal_all(j, SIGKILL); /* asked twice */
        }
    }
}

// ---- the job ----

/* Waits for output, signals and the time to kill. */
static void wait_once(job *j, struct pollfd *polled) {
    int count = 1;
    polled[0] = (struct pollfd){.fd = j->signals, .events = POLLIN};
    for (int i = 0; i < j->count; i++) {
        for (int k = 0; k < NUM_STREAMS; k++) {
            polled[count++] =
                (struct pollfd){.fd = j->processes[i].streams[k].from, .events = POLLIN};
        }
    }
    int64_t left = j->kill_ns == LEATI_NO_DEADLINE ? -1 : (j->kill_ns - leati_now_ns()) / 1000000;
    /* Rounded up, so that poll does not return just before the time and spin. */
    int wait = j->kill_ns == LEATI_NO_DEADLINE ? -1 : left < 0 ? 0 : (int)left + 1;
    if (poll(polled, (nfds_t)count, wait) < 0)
        return;
    for (int i = 1; i < count; i++) {
        /* The hang-up of an end that nobody writes to is an event, too. */
        if (polled[i].revents != 0) {
            process *p = &j->processes[(i - 1) / NUM_STREAMS];
            read_stream(j, p, &p->streams[(i - 1) % NUM_STREAMS]);
        }
    }
    /* After the output, so that the last lines of a process come before the word of its end. */
    take_signal(j);
    collect(j);
    if (j->kill_ns != LEATI_NO_DEADLINE && leati_now_ns() >= j->kill_ns) {
        signal_all(j, SIGKILL);
        j->kill_ns = leati_now_ns() + INT64_C(1000000000);
    }
}

static bool has_output(const job *j) {
    for (int i = 0; i < j->count * NUM_STREAMS; i++)
        if (j->processes[i / NUM_STREAMS].streams[i % NUM_STREAMS].from >= 0)
            return true;
    return false;
}

static leati_exit run(job *j, struct pollfd *polled) {
    bool started = true;
    for (int i = 0; i < j->count && started; i++)
        started = start_process(j, &j->processes[i]);
    if (!started)
        end_others(j, SIGTERM);
    while (j->members + j->helpers > 0)
        wait_once(j, polled);
    /* The streams end with the processes, whose groups were killed; what left its group is not
     * waited for. */
    j->kill_ns = leati_now_ns() + (int64_t)(j->options->grace * 1e9);
    for (int64_t end_ns = j->kill_ns; has_output(j) && leati_now_ns() < end_ns;)
        wait_once(j, polled);
    if (j->interrupted != 0)
        return LEATI_EXIT_INTERRUPTED;
    if (j->failed != NULL)
        return (leati_exit)status_of(j->failed);
    return started ? LEATI_EXIT_OK : LEATI_EXIT_FAILURE;
}

/* Before the first process is started: none can end without its SIGCHLD being seen. */
static void take_signals(job *j) {
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGHUP);
    sigaddset(&taken, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &taken, &j->outside);
    /* Signals are read as output is, so that one poll waits for everything. */
    j->signals = signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
}

leati_exit leati_job_run(const leati_job_program *programs, int count,
                         const leati_job_options *options) {
    job j = {.options = options, .count = count, .kill_ns = LEATI_NO_DEADLINE};
    leati_exit code = LEATI_EXIT_FAILURE;
    struct pollfd *polled = leati_alloc((size_t)count * NUM_STREAMS + 1, sizeof *polled);
    j.processes = leati_alloc_zero((size_t)count, sizeof *j.processes);
    take_signals(&j);
    if (j.processes == NULL || polled == NULL) {
        leati_say_error("out of memory");
    } else if (j.signals < 0) {
        leati_say_error("launch: no file descriptor is free: %s", strerror(errno));
    } else {
        for (int i = 0; i < count; i++) {
            process *p = &j.processes[i];
            p->program = &programs[i];
            p->again = programs[i].again;
            for (int k = 0; k < NUM_STREAMS; k++)
                p->streams[k] = (stream){.from = -1, .to = k == 0 ? stdout : stderr};
        }
        code = run(&j, polled);
        for (int i = 0; i < count * NUM_STREAMS; i++)
            leati_text_fini(&j.processes[i / NUM_STREAMS].streams[i % NUM_STREAMS].line);
    }
    if (j.signals >= 0)
        close(j.signals);
    leati_free(j.processes);
    leati_free(polled);
    return code;
}
