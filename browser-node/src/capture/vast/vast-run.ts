import type { PlayedAd } from '@adsweep/shared/capture/vast.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Resolution } from './resolution.ts';
import type { TrackerLog } from './tracker-log.ts';

/** What a VAST capture has come to so far: its visit fills it, and a collector makes a record of it. */
export type VastRun = { resolution: Resolution; played: PlayedAd[]; log: TrackerLog };

const runs = new WeakMap<CaptureSession, VastRun>();

export const keepVastRun = (captureSession: CaptureSession, run: VastRun): void => {
  runs.set(captureSession, run);
};

/** That of a capture, undefined = its tag was not even fetched. */
export const vastRunOf = (captureSession: CaptureSession): VastRun | undefined => runs.get(captureSession);
