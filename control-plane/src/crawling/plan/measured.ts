import type { TargetKind } from '@adsweep/shared/scan/target.ts';

/** What a scan uses: seconds in a slot, CPU seconds of each part, bytes of its files and through its exit. */
export type ScanCost = {
  seconds: number;
  nodeCpu: number;
  controlCpu: number;
  routerCpu: number;
  redisCpu: number;
  fileBytes: number;
  exitBytes: number;
};

/**
 * Measured by `npm run bench sizing` (loadtest/results/2026-11-29-sizing.md; a test compares them) with the pages and
 * ads of the local ad world. Real ones are heavier: measure yours, and send `seconds` and `exit_megabytes`.
 */
export const COSTS: Readonly<Record<TargetKind, ScanCost>> = {
  url: {
    seconds: 4.7,
    nodeCpu: 1.036,
    controlCpu: 0.226,
    routerCpu: 0.049,
    redisCpu: 0.006,
    fileBytes: 235e3,
    exitBytes: 19e3,
  },
  ad_tag: {
    seconds: 7.7,
    nodeCpu: 2.924,
    controlCpu: 0.251,
    routerCpu: 0.036,
    redisCpu: 0.009,
    fileBytes: 101e3,
    exitBytes: 28e3,
  },
  vast_tag: {
    seconds: 7.5,
    nodeCpu: 2.001,
    controlCpu: 0.244,
    routerCpu: 0.056,
    redisCpu: 0.009,
    fileBytes: 114e3,
    exitBytes: 39e3,
  },
};

/** Records of a scan with their indexes, from the same result. */
export const RECORD_BYTES = 22e3;
/** Redis' memory for a waiting job: 471 MB for a million (loadtest/results/2026-11-22-queue-depth.md). */
export const WAITING_JOB_BYTES = 471;

/** Assumptions, which nothing here has measured. */
export const ASSUMED = {
  /** Share of the cores, and of the slots, that is used at the peak. */
  utilisation: 0.7,
  /**
   * What a node is: its cores, its slots (five per core, the default's least) and its memory (OPERATIONS.md, Sizing).
   */
  node: { cores: 2, slots: 10, memoryBytes: 3e9 },
  /** Writes of a scan in MongoDB, and what one shard (replica set) takes in a second with its indexes. */
  mongo: { writesPerScan: 12, writesPerSecond: 10_000, bytesPerShard: 2e12 },
  /** Files of a scan, and requests that an S3 prefix takes in a second by its documentation. */
  s3: { filesPerScan: 4, putsPerSecond: 3_500 },
  /** Share of a day's scans that may wait at once. */
  waitingShare: 0.05,
} as const;
