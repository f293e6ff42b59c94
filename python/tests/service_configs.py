"""Configurations of servers with the fields that DispatcherConfig and WorkerConfig lack.

Unset ones are as protocol buffers have them: 0, "", False or an empty list.
"""

import types

_DISPATCHER = {"port": 0, "protocol": "", "work_dir": "", "fault_tolerant_mode": False, "worker_addresses": [],
               "deployment_mode": 0, "job_gc_check_interval_ms": 0, "job_gc_timeout_ms": 0,
               "gc_dynamic_sharding_jobs": False, "client_timeout_ms": 0, "worker_timeout_ms": 0,
               "worker_max_concurrent_snapshots": 0}
_WORKER = {"port": 0, "protocol": "", "dispatcher_address": "", "worker_address": "", "worker_tags": [],
           "heartbeat_interval_ms": 0, "dispatcher_timeout_ms": 0, "data_transfer_protocol": "",
           "data_transfer_port": 0, "data_transfer_address": "", "cross_trainer_cache_size_bytes": 0,
           "snapshot_max_chunk_size_bytes": 0, "memory_budget_bytes": 0, "shutdown_quiet_period_ms": 0}


def dispatcher(**fields):
    return types.SimpleNamespace(**{**_DISPATCHER, **fields})


def worker(**fields):
    return types.SimpleNamespace(**{**_WORKER, **fields})
