#ifndef CUDASIM_H
#define CUDASIM_H
/* What cudasim's libcudart.so.13 offers beyond the CUDA runtime. Find the functions with
 * dlsym(RTLD_DEFAULT, …): on a real GPU they are absent.
 *
 * Environment, read when the library loads or a kernel is launched:
 *   CUDASIM_COUNTERS=<file|->     at exit, writes cudasimCountersJson() there (-: stderr)
 *   CUDASIM_REPORT=1              at exit, prints a table of kernels, their model bounds and
 *                                 counters on stderr, with colours on a terminal
 *   CUDASIM_ERROR_EXITCODE=<n>    exits with n when a kernel faulted or a check found an error
 *   CUDASIM_CHECK=<names|all>     memcheck, racecheck, initcheck, synccheck, leakcheck, separated
 *                                 by commas; what they find is printed on stderr
 *   CUDASIM_FINDINGS=<file|fd:N|->  what the checks find, as JSON lines, appended there (-: stderr)
 *   CUDASIM_SCHEDULE=<order>      blocks start ascending (the default), descending or random:SEED
 *   CUDASIM_MEMORY_LIMIT=<bytes>  device memory; beyond it cudaErrorMemoryAllocation
 *   CUDASIM_STREAMS=deferred      work of a stream is done when the host waits for it, as late as
 *                                 CUDA allows, and not when it is submitted: shows missing waits
 *   CUDASIM_THREADS=<n>           host threads that run blocks
 *   CUDASIM_WATCHDOG_SECONDS=<s>  a kernel that lasts and computes longer ends with
 *                                 cudaErrorLaunchTimeout; on a busy machine by the clock 4 times s
 */
#ifdef __cplusplus
extern "C" {
#endif

/* Counters since the start or the last reset, as JSON:
 * {"schema":"cudasim.counters/1", "device":"model of H100 SXM5", "time_kind":"model bound",
 *  "kernels":[{"name","mangled","launches","grid":[x,y,z],"block":[x,y,z],"registers",
 *              "static_shared_bytes","dynamic_shared_bytes","local_bytes",
 *              "occupancy":{"blocks_per_sm","warps_per_sm","fraction","limiter"},
 *              "waves","tail","bound_ms","limiter","terms_ms":{"DRAM":…},"counters":{…}}],
 *  "total":{"launches","bound_ms","counters":{…}}, "copies":{"count","bytes","bound_ms"},
 *  "faults":n}
 * Grid, block, occupancy and waves are those of the latest launch; the rest sums all launches.
 * The pointer is good until the next call in the same thread. */
const char* cudasimCountersJson(void);

void cudasimCountersReset(void);

/* The last kernel fault as JSON, "" when there was none:
 * {"kind","error":"cudaErrorIllegalAddress","message","kernel","block":[x,y,z],"thread":[x,y,z],
 *  "address":"0x…","allocation","instruction","ptx_line","file","line"} */
const char* cudasimLastFault(void);

/* Threads of this process that are the simulator's own. */
unsigned cudasimHostThreads(void);

/* Findings of the checks so far, as a JSON array. An element, and a line of CUDASIM_FINDINGS, is
 * {"schema":"cudasim.finding/1", "check":"racecheck",
 *  "kind": memcheck: out-of-bounds (of an allocation, or of the shared variable that an address is
 *                    derived from), misaligned, use-after-free, host-memory, read-only,
 *                    double-free, invalid-free; racecheck: race (also between kernels and
 *                    copies of streams that nothing orders), same-value (a warning);
 *          initcheck: uninitialized; synccheck: divergent-barrier, exited-threads, bad-count,
 *                    bad-mask, deadlock; leakcheck: leak
 *  "severity":"error" or "warning", "message", "count":n,
 *  in kernels: "kernel", "at": and for races "other": {"access","block":[x,y,z],
 *              "thread":[x,y,z],"file","line","instruction","ptx_line"},
 *  with an address: "address":"0x…","space":"global"|"shared"|"local","allocation"}
 * "allocation" tells where memory was allocated as program+offset, which addr2line reads. Under
 * memcheck a bad access is recorded and skipped and the kernel goes on, without an error code
 * (after 100 000 of them in a launch it faults, as it does at the first one without memcheck).
 * One line a place, written when the launch that first showed it has ended, with the count so far.
 * At exit a last line {"schema":"cudasim.findings/1","errors","warnings","places","dropped"} sums
 * up; a file without it is of a process that was killed. */
const char* cudasimFindings(void);

#ifdef __cplusplus
}
#endif
#endif
