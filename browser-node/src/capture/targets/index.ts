import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import type { CaptureRequest } from '../capture-outcome.ts';
import type { Stage } from '../stage.ts';
import { visitUrl } from './url.ts';
import type { Visit } from './visit.ts';

/** How each kind of target is loaded, until it came to rest. */
export const targets: Partial<Record<TargetKind, (stage: Stage, request: CaptureRequest) => Promise<Visit>>> = {
  url: visitUrl,
};
