"""What /proc and the folders say of a running soak: memory, descriptors and threads of a process, leftovers of the whole job."""
import os

MEBI = 1 << 20
SHARED = "/dev/shm"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def kibibytes(text):
    """The lines `Name:  n kB` of a file of /proc, in MiB."""
    found = {}
    for line in text.splitlines():
        parts = line.replace(":", " ").split()
        if len(parts) == 3 and parts[2] == "kB":
            found[parts[0]] = int(parts[1]) / 1024
    return found


def of_process(pid):
    """One sample of a process: a dictionary, or None where it has ended. `memory` is the part of RSS that belongs to no file: pages of
    files come and go as the kernel likes."""
    try:
        status = read("/proc/%d/status" % pid)
        sizes = kibibytes(status)
        pss = kibibytes(read("/proc/%d/smaps_rollup" % pid)).get("Pss", 0.0)
        threads = int(status.split("Threads:")[1].split()[0])
        descriptors = len(os.listdir("/proc/%d/fd" % pid))
    except (OSError, IndexError):
        return None
    if "VmRSS" not in sizes:  # a zombie has none
        return None
    own = sizes.get("RssAnon", 0.0) + sizes.get("RssShmem", 0.0)
    return {"memory": own, "rss": sizes["VmRSS"], "pss": pss, "descriptors": descriptors, "threads": threads}


def descendants(root):
    """The processes below `root`: {pid: state}, a letter as in ps."""
    children, states = {}, {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fields = read("/proc/%s/stat" % name).rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        states[int(name)] = fields[0]
        children.setdefault(int(fields[1]), []).append(int(name))
    found, todo = {}, [root]
    while todo:
        for pid in children.get(todo.pop(), []):
            found[pid] = states[pid]
            todo.append(pid)
    return found


def of_folder(folder):
    """How many files lie below a folder, and their MiB."""
    count, size = 0, 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(path, name)).st_size
            except OSError:
                continue  # gone since
            count += 1
    return count, size / MEBI


def shared_entries():
    """The entries `leat-PID-...` of /dev/shm: {name: PID}. Others' jobs have theirs there, too."""
    try:
        parts = [(name, name.split("-")) for name in os.listdir(SHARED)]
    except OSError:
        return {}
    return {name: int(part[1]) for name, part in parts if len(part) > 2 and part[0] == "leat" and part[1].isdigit()}


def of_job(root, temporary, work, ended, shared):
    """One sample of the job as a whole. `ended` are processes of it that were there since the last sample, `shared` the names of its
    entries of /dev/shm so far, to which those of its processes are added."""
    states = descendants(root)
    files, size = of_folder(temporary)
    written, more = of_folder(work)
    zombies = sum(1 for state in states.values() if state in "ZX")
    entries = shared_entries()
    shared.update(name for name, pid in entries.items() if pid in states or pid in ended)
    return {"files": files + written, "disk": size + more, "shared": len(shared & entries.keys()), "zombies": zombies,
            "processes": len(states) - zombies}
