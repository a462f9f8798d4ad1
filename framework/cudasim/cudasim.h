#ifndef CUDASIM_H
#define CUDASIM_H
/* What cudasim's libcudart.so.13 offers beyond the CUDA runtime. Find the functions with
 * dlsym(RTLD_DEFAULT, …): on a real GPU they are absent.
 *
 * Environment, read when the library loads or a kernel is launched:
 *   CUDASIM_COUNTERS=<file|->     at exit, writes cudasimCountersJson() there (-: stderr)
 *   CUDASIM_REPORT=1              at exit, prints a table of kernels, their model bounds and
 *                                 counters on stderr, with colours on a terminal
 *   CUDASIM_ERROR_EXITCODE=<n>    exits with n when a kernel faulted
 *   CUDASIM_MEMORY_LIMIT=<bytes>  device memory; beyond it cudaErrorMemoryAllocation
 *   CUDASIM_STREAMS=deferred      work of a stream is done when the host waits for it, as late as
 *                                 CUDA allows, and not when it is submitted: shows missing waits
 *   CUDASIM_THREADS=<n>           host threads that run blocks
 *   CUDASIM_WATCHDOG_SECONDS=<s>  a kernel that runs longer ends with cudaErrorLaunchTimeout
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

#ifdef __cplusplus
}
#endif
#endif
