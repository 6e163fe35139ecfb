import { type ProcFiles, type Thread, threadNamed } from './proc-files.ts';

/**
 * For how long, in ms of CPU time, the thread that draws all tabs may compute without a pause. While pages load and
 * move it pauses some hundred times a second, also on a busy machine; one frame with filters in filters takes it
 * minutes.
 */
export const DRAWING_MS_MAX = 700;
/** Linux keeps 15 characters of a thread's name. */
const COMPOSITOR = 'VizCompositorTh';

/** How often a thread has waited so far, and how long it has run. */
type Waits = { waits: number; ranMs: number };

/**
 * Tells when a browser's compositor thread, which draws the tabs of all its contexts, is stuck in one frame: no other
 * tab is drawn, and no screenshot taken, until that frame is done. Knows nothing on a system without /proc.
 */
export class CompositorWatch {
  readonly #files: Pick<ProcFiles, 'read'>;
  #thread: Thread | null = null;
  /** The thread when it was first seen after it last waited. */
  #since: Waits | null = null;

  constructor(files: Pick<ProcFiles, 'read'>) {
    this.#files = files;
  }

  /**
   * For how many ms of CPU time the thread has been computing without a pause. To be called often; `gpuPid`: null while
   * it is not known.
   */
  drawingMs(gpuPid: number | null): number {
    if (this.#thread?.pid !== gpuPid) this.#thread = gpuPid === null ? null : threadNamed(gpuPid, COMPOSITOR);
    const now = this.#thread && this.#read(this.#thread);
    if (!now || now.waits !== this.#since?.waits) this.#since = now;
    return now && this.#since ? now.ranMs - this.#since.ranMs : 0;
  }

  #read({ pid, tid }: Thread): Waits | null {
    const waits = /^voluntary_ctxt_switches:\s+(\d+)/m.exec(this.#files.read(pid, `task/${tid}/status`))?.[1];
    const ran = this.#files.read(pid, `task/${tid}/schedstat`).split(' ')[0];
    return waits && ran ? { waits: Number(waits), ranMs: Number(ran) / 1e6 } : null;
  }
}
