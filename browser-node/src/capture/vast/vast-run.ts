import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { TrackerLog } from './tracker-log.ts';
import type { Resolution } from './wrapper-chain.ts';

/** The progress of a VAST capture: its visit fills it, and a collector turns it into a record. */
export type VastRun = { resolution: Resolution; played: PlayedAd[]; log: TrackerLog };

const runs = new WeakMap<CaptureSession, VastRun>();

export const keepVastRun = (captureSession: CaptureSession, run: VastRun): void => {
  runs.set(captureSession, run);
};

/** That of a capture, undefined = its tag was not even fetched. */
export const vastRunOf = (captureSession: CaptureSession): VastRun | undefined => runs.get(captureSession);
