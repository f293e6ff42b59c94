/* leat launch: a program as several processes of one job on this machine.
 *
 * Happy path: each process gets TF_CONFIG with all addresses and its own number, a secret that is
 * drawn for this job (LEAT_JOB_SECRET), and a process group of its own; its lines are printed with
 * its number before them; when all have ended well the status is 0. Failures: the first process
 * that fails is named, the others get SIGTERM and, if that does not end them, SIGKILL; the status
 * is that of the first one. Ctrl-C and SIGTERM are passed on. If this process is killed, the system
 * kills the others. No locks: one thread. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/say.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECRET_BYTES = 32 };
enum { MOST_PROCESSES = 512, LONGEST_LINE = 1 << 16, NUM_STREAMS = 2, NO_PROGRAM = 127 };

struct launch_options {
    int64_t num_processes;
    double grace;
    bool plain;
};

/* What a process prints on one of its streams. */
typedef struct stream {
    int from; /* -1: ended */
    FILE *to;
    leati_text line;
} stream;

typedef struct process {
    pid_t pid; /* 0: has ended */
    int status;
    stream streams[NUM_STREAMS];
} process;

typedef struct job {
    const struct launch_options *options;
    process *processes;
    int count, running;
    int signals; /* a signalfd */
    sigset_t outside;
    char secret[2 * SECRET_BYTES + 1];
    int failed;      /* which process failed first; -1: none */
    int interrupted; /* the signal that ended the job; 0: none */
    int64_t kill_ns; /* when those who are left get SIGKILL */
} job;

// ---- output ----

static void print_line(const job *j, int number, stream *s) {
    if (!j->options->plain)
        fprintf(s->to, "[worker %d] ", number);
    (void)fwrite(s->line.data, 1, s->line.size, s->to);
    fputc('\n', s->to);
    /* At once: a user watches, and a crash must not swallow lines. */
    fflush(s->to);
    s->line.size = 0;
}

/* Takes what has come; whole lines are printed. */
static void read_stream(const job *j, int number, stream *s) {
    char bytes[4096];
    ssize_t got = read(s->from, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n')
            leati_text_add(&s->line, &bytes[i], 1);
        /* A program that never ends its line must not fill the memory. */
        if (bytes[i] == '\n' || s->line.size >= LONGEST_LINE)
            print_line(j, number, s);
    }
    if (got <= 0) {
        /* What a process wrote without a newline at its end. */
        if (s->line.size > 0)
            print_line(j, number, s);
        close(s->from);
        s->from = -1;
    }
}

// ---- starting ----

/* {"cluster": {"worker": [...]}, "task": {"type": "worker", "index": number}}; owned, NULL without
 * memory. */
static char *config_of(const int *ports, int count, int number) {
    leati_text text = {0};
    leati_text_addf(&text, "{\"cluster\": {\"worker\": [");
    for (int i = 0; i < count; i++)
        leati_text_addf(&text, "%s\"localhost:%d\"", i > 0 ? ", " : "", ports[i]);
    leati_text_addf(&text, "]}, \"task\": {\"type\": \"worker\", \"index\": %d}}", number);
    return leati_text_take(&text);
}

/* Ports of this machine that nobody uses now. */
static bool find_ports(int *ports, int count) {
    int *sockets = leati_alloc((size_t)count, sizeof *sockets);
    int opened = 0;
    for (bool good = sockets != NULL; good && opened < count; opened += good) {
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
        socklen_t size = sizeof at;
        sockets[opened] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (sockets[opened] < 0)
            break;
        good = bind(sockets[opened], (struct sockaddr *)&at, sizeof at) == 0 &&
               getsockname(sockets[opened], (struct sockaddr *)&at, &size) == 0;
        ports[opened] = ntohs(at.sin_port);
        if (!good)
            close(sockets[opened]);
    }
    /* All are open at the same time, so that no port is found twice. Until the workers listen
     * somebody else may take one, which they report. */
    for (int i = 0; i < opened; i++)
        close(sockets[i]);
    leati_free(sockets);
    return opened == count;
}

/* The child's side of a fork; does not return. */
static void become(const job *j, pid_t parent, const int *ends, const char *config,
                   char **arguments) {
    /* Here and by the parent: whichever comes first, the group is there before either goes on. */
    (void)setpgid(0, 0);
    /* If launch is killed nobody else would end this process. It may have died before this call:
     * hence the question about the parent. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Several processes that read one terminal would each get a part of what is typed. */
    int nothing = open("/dev/null", O_RDONLY);
    if (getppid() != parent || nothing < 0 || dup2(nothing, 0) < 0 || dup2(ends[0], 1) < 0 ||
        dup2(ends[1], 2) < 0 || setenv("TF_CONFIG", config, 1) != 0 ||
        setenv("LEAT_JOB_SECRET", j->secret, 1) != 0)
        _exit(NO_PROGRAM);
    /* Blocked signals are inherited, also by the program that is executed. */
    (void)sigprocmask(SIG_SETMASK, &j->outside, NULL);
    execvp(arguments[0], arguments);
    /* Goes through the pipe, so that it gets the worker's number. */
    fprintf(stderr, "leat: launch: cannot run %s: %s\n", arguments[0], strerror(errno));
    fflush(stderr);
    _exit(NO_PROGRAM);
}

static bool start_process(job *j, int number, const int *ports, char **arguments) {
    process *p = &j->processes[number];
    char *config = config_of(ports, j->count, number);
    int pipes[NUM_STREAMS][2] = {{-1, -1}, {-1, -1}};
    bool good =
        config != NULL && pipe2(pipes[0], O_CLOEXEC) == 0 && pipe2(pipes[1], O_CLOEXEC) == 0;
    pid_t parent = getpid(), pid = good ? fork() : -1;
    if (pid == 0)
        become(j, parent, (const int[]){pipes[0][1], pipes[1][1]}, config, arguments);
    leati_free(config);
    for (int i = 0; i < NUM_STREAMS; i++) {
        /* The writing ends belong to the child: while one is open here, reading would never end. */
        if (pipes[i][1] >= 0)
            close(pipes[i][1]);
        if (pid < 0 && pipes[i][0] >= 0)
            close(pipes[i][0]);
        else if (pid > 0)
            p->streams[i] = (stream){.from = pipes[i][0], .to = i == 0 ? stdout : stderr};
    }
    if (pid < 0) {
        leati_say_error("launch: worker %d cannot be started: %s", number, strerror(errno));
        return false;
    }
    (void)setpgid(pid, pid);
    p->pid = pid;
    j->running++;
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
    /* As shells do. */
    return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}

static void note_end(job *j, int number) {
    process *p = &j->processes[number];
    /* What the process itself started ends with it. */
    (void)kill(-p->pid, SIGKILL);
    p->pid = 0;
    j->running--;
    if (p->status == 0 || j->kill_ns != LEATI_NO_DEADLINE)
        return; /* well, or asked to end */
    j->failed = number;
    if (WIFSIGNALED(p->status)) {
        leati_say_error("launch: worker %d was ended by signal %d (%s)%s", number,
                        WTERMSIG(p->status), strsignal(WTERMSIG(p->status)),
                        j->running > 0 ? "; ending the others" : "");
    } else {
        leati_say_error("launch: worker %d ended with status %d%s", number, WEXITSTATUS(p->status),
                        j->running > 0 ? "; ending the others" : "");
    }
    end_others(j, SIGTERM);
}

static void collect(job *j) {
    for (int i = 0; i < j->count; i++) {
        process *p = &j->processes[i];
        /* Each by its number: one SIGCHLD may stand for several processes. */
        if (p->pid > 0 && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
            note_end(j, i);
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

/* What only the processes of this job know: who else reaches their ports is no member. */
static bool draw_secret(job *j) {
    uint8_t bytes[SECRET_BYTES];
    bool good = leati_random_secret(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(j->secret + 2 * i, 3, "%02x", bytes[i]);
    return good;
}

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
            int number = (i - 1) / NUM_STREAMS;
            read_stream(j, number, &j->processes[number].streams[(i - 1) % NUM_STREAMS]);
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

static leati_exit run_job(job *j, const int *ports, char **arguments) {
    bool started = true;
    struct pollfd *polled = leati_alloc((size_t)j->count * NUM_STREAMS + 1, sizeof(struct pollfd));
    for (int i = 0; i < j->count && started; i++)
        started = polled != NULL && start_process(j, i, ports, arguments);
    if (!started)
        end_others(j, SIGTERM);
    while (j->running > 0)
        wait_once(j, polled);
    /* The streams end with the processes, whose groups were killed; what left its group is not
     * waited for. */
    j->kill_ns = leati_now_ns() + (int64_t)(j->options->grace * 1e9);
    for (int64_t end_ns = j->kill_ns; polled != NULL && has_output(j) && leati_now_ns() < end_ns;)
        wait_once(j, polled);
    leati_free(polled);
    if (j->interrupted != 0)
        return LEATI_EXIT_INTERRUPTED;
    if (j->failed >= 0)
        return (leati_exit)status_of(&j->processes[j->failed]);
    return started ? LEATI_EXIT_OK : LEATI_EXIT_FAILURE;
}

static leati_exit run_launch(void *values, char **arguments, int count) {
    (void)count;
    struct launch_options *options = values;
    job j = {.options = options,
             .count = (int)options->num_processes,
             .failed = -1,
             .kill_ns = LEATI_NO_DEADLINE};
    leati_exit code = LEATI_EXIT_FAILURE;
    int *ports = leati_alloc((size_t)j.count, sizeof *ports);
    j.processes = leati_alloc_zero((size_t)j.count, sizeof *j.processes);
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGINT);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGHUP);
    sigaddset(&taken, SIGCHLD);
    /* Before the first process is started: none can end without its SIGCHLD being seen. */
    (void)sigprocmask(SIG_BLOCK, &taken, &j.outside);
    /* Signals are read as output is, so that one poll waits for everything. */
    j.signals = signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
    if (ports == NULL || j.processes == NULL) {
        leati_say_error("out of memory");
    } else if (!draw_secret(&j)) {
        leati_say_error("launch: the system has no random numbers: %s", strerror(errno));
    } else if (j.signals < 0 || !find_ports(ports, j.count)) {
        leati_say_error("launch: no port or file descriptor is free: %s", strerror(errno));
    } else {
        /* 0 would be a descriptor. */
        for (int i = 0; i < j.count * NUM_STREAMS; i++)
            j.processes[i / NUM_STREAMS].streams[i % NUM_STREAMS].from = -1;
        code = run_job(&j, ports, arguments);
    }
    for (int i = 0; j.processes != NULL && i < j.count * NUM_STREAMS; i++)
        leati_text_fini(&j.processes[i / NUM_STREAMS].streams[i % NUM_STREAMS].line);
    if (j.signals >= 0)
        close(j.signals);
    leati_free(j.processes);
    leati_free(ports);
    return code;
}

static void launch_defaults(void *values) {
    struct launch_options *options = values;
    options->num_processes = 2;
    options->grace = 5;
}

static const leati_option launch_options[] = {
    {.name = "processes",
     .letter = 'n',
     .type = LEATI_OPTION_INT,
     .offset = offsetof(struct launch_options, num_processes),
     .value = "N",
     .minimum = 1,
     .maximum = MOST_PROCESSES,
     .doc = "how many processes; 2"},
    {.name = "grace",
     .type = LEATI_OPTION_FLOAT,
     .offset = offsetof(struct launch_options, grace),
     .value = "SECONDS",
     .minimum = 0,
     .maximum = 3600,
     .doc = "from asking the others to end until they are killed; 5"},
    {.name = "plain",
     .type = LEATI_OPTION_FLAG,
     .offset = offsetof(struct launch_options, plain),
     .doc = "print their lines without numbers"},
    {0},
};

const leati_command leati_command_launch = {
    .name = "launch",
    .summary = "run a program as several processes of one job on this machine",
    .arguments = "-- PROGRAM [ARGUMENT]...",
    .description =
        "Starts the program N times. Each process finds in TF_CONFIG the addresses of\n"
        "all, on free ports, and which of them it is (a \"worker\" from 0), and in\n"
        "LEAT_JOB_SECRET what keeps other programs out of the job. What they print\n"
        "comes out line by line with \"[worker 2] \" before it; they read nothing.\n"
        "When one fails, the others are ended, and the exit status is that of the first\n"
        "that failed (128 and the number of a signal). Ctrl-C goes to all of them.",
    .min_arguments = 1,
    .max_arguments = -1,
    .options = launch_options,
    .size = sizeof(struct launch_options),
    .defaults = launch_defaults,
    .takes_signals = true,
    .run = run_launch,
};
