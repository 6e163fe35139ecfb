import type { Evidence, Need } from '../evidence/evidence.ts';
import { behaviors } from './behaviors/index.ts';
import { combine } from './combine.ts';
import { deceptions } from './deception/deception-detectors.ts';
import type { Detector } from './detector.ts';
import { exitMismatch } from './exit-mismatch.ts';
import type { Finding } from './finding.ts';
import { vastDetectors } from './vast/vast-detectors.ts';

/** All findings, and the detectors that threw or took too long; these have no findings and do not affect the others. */
export type Detection = { findings: Finding[]; failed: { name: string; cause: unknown }[] };

/** Runs one detector; throws what it throws, or where it does not end in time. */
export type RunDetector = (work: () => Finding[]) => Finding[];

/** All detectors. */
export const detectors: Detector<Need>[] = [...behaviors, ...deceptions, ...vastDetectors, exitMismatch];

/** Runs the detectors of `among` over the evidence, one after the other. */
export function detect(evidence: Evidence, among = detectors, run: RunDetector = (work) => work()): Detection {
  const detection: Detection = { findings: [], failed: [] };
  for (const detector of among) {
    try {
      detection.findings.push(...run(() => detector.detect(evidence)));
    } catch (cause) {
      detection.failed.push({ name: detector.name, cause });
    }
  }
  return { ...detection, findings: combine(detection.findings) };
}
