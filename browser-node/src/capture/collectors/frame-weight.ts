import { rootOf } from '../devtools/devtools.ts';
import type { FrameTree } from '../devtools/frame-tree.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { ANSWER_MS, CONSPICUOUS_FRAME_BYTES, HEAVY_FRAMES_MAX, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { framesOf } from '../session/frames.ts';
import { isShown } from '../session/open-tabs.ts';
import { clipUrl } from '../session/urls.ts';
import type { Collector } from './collector.ts';

/** The bytes that frames of pages loaded, including their child frames. */
export const frameWeight: Collector = {
  name: 'frame_weight',
  start(capture) {
    const weights = new FrameWeights(capture);
    return async (draft) => {
      draft.frameBytes = weights.byFrame();
      for (const { ord, tab } of capture.landings.numbered().filter(isShown)) {
        if (ord === null) {
          // Everything that the harness page's tab loads is loaded by the creative.
          const bytes = weights.ofTab(tab.session.targetId);
          if (bytes >= CONSPICUOUS_FRAME_BYTES)
            draft.observations.push({
              kind: 'frame_weight',
              landing: ord,
              url: tab.url,
              facts: { bytes, ...NO_SIZE },
              frameId: tab.session.targetId,
            });
          continue;
        }
        for (const { frameId, bytes } of weights.heaviestOf(tab.session.targetId)) {
          const at = (await framesOf(capture, tab.session)).find((frame) => frame.frameId === frameId);
          if (!at) continue;
          // The size of a frame that is too busy to answer is left out.
          const deadlineMs = underLoad(capture, ANSWER_MS);
          const size = await evaluateInIsolatedWorld(at.session, frameId, readViewport, null, deadlineMs).catch(
            () => NO_SIZE,
          );
          const facts = { bytes, ...size };
          draft.observations.push({ kind: 'frame_weight', landing: ord, url: clipUrl(at.url), facts, frameId });
        }
      }
    };
  },
};

const NO_SIZE = { width: 0, height: 0 };
/** Runs in the page, in an isolated world. */
const readViewport = () => ({ width: innerWidth, height: innerHeight });

/**
 * The bytes that each frame loaded, and those of the frames directly in a tab's own document including their child
 * frames.
 */
class FrameWeights {
  readonly #tree: FrameTree;
  readonly #frames = new Map<string, string>();
  readonly #received = new Map<string, number>();
  readonly #bytes = new Map<string, { tab: string; bytes: number }>();

  constructor({ devtools, journal }: CaptureSession) {
    this.#tree = devtools.frames;
    devtools.on('Network.requestWillBeSent', ({ requestId, frameId }, session) => {
      const frame = frameId ?? session.frameId;
      if (frame && journal.closedAtMs === null) this.#frames.set(requestId, frame);
    });
    devtools.on('Network.dataReceived', ({ requestId, encodedDataLength }, session) => {
      if (!this.#frames.has(requestId)) return;
      this.#received.set(requestId, (this.#received.get(requestId) ?? 0) + encodedDataLength);
      this.#add(rootOf(session).targetId, this.#frames.get(requestId), encodedDataLength);
    });
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }, session) => {
      const received = this.#received.get(requestId) ?? 0;
      this.#add(rootOf(session).targetId, this.#frames.get(requestId), Math.max(0, encodedDataLength - received));
      this.#forget(requestId);
    });
    devtools.on('Network.loadingFailed', ({ requestId }) => this.#forget(requestId));
  }

  ofTab(tab: string): number {
    return [...this.#bytes.values()].reduce((sum, weight) => sum + (weight.tab === tab ? weight.bytes : 0), 0);
  }

  /** What each frame loaded by itself. */
  byFrame(): Map<string, number> {
    return new Map([...this.#bytes].map(([frame, { bytes }]) => [frame, bytes]));
  }

  /** The conspicuous frames of a tab, the heaviest first. */
  heaviestOf(tab: string): { frameId: string; bytes: number }[] {
    const sums = new Map<string, number>();
    for (const [frame, { tab: own, bytes }] of this.#bytes) {
      const outer = this.#outermost(frame, tab);
      if (own === tab && outer !== tab) sums.set(outer, (sums.get(outer) ?? 0) + bytes);
    }
    return [...sums]
      .filter(([, bytes]) => bytes >= CONSPICUOUS_FRAME_BYTES)
      .map(([frameId, bytes]) => ({ frameId, bytes }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, HEAVY_FRAMES_MAX);
  }

  #add(tab: string, frame: string | undefined, bytes: number): void {
    if (!frame) return;
    const weight = this.#bytes.get(frame) ?? { tab, bytes: 0 };
    weight.bytes += bytes;
    this.#bytes.set(frame, weight);
  }

  /** The frame directly in the tab's own document that holds `frame`. */
  #outermost(frame: string, tab: string): string {
    let at = frame;
    for (let parent = this.#tree.parentOf(at); parent && parent !== tab; parent = this.#tree.parentOf(at)) at = parent;
    return at;
  }

  #forget(requestId: string): void {
    this.#frames.delete(requestId);
    this.#received.delete(requestId);
  }
}
