import sharp from 'sharp';
import { isLate, resizeScreenshot, type Size, type WantedSize } from './resize-screenshot.ts';

/**
 * A message to this process, which only resizes pictures: they come from hostile pages and cost seconds of CPU, and
 * sharp uses the thread pool that file access and compression need. The process ends with its parent.
 */
export type ResizeRequest = { id: number; bytes: Uint8Array; original: Size; wanted: WantedSize };
/** The reply to a request. `isLate`: the time limit for one picture was exceeded. */
export type Resized = { id: number; bytes: Uint8Array } | { id: number; error: string; isLate: boolean };

sharp.concurrency(1);
sharp.cache(false);

process.on('message', async ({ id, bytes, original, wanted }: ResizeRequest) => {
  process.send?.(await resize(id, Buffer.from(bytes), original, wanted));
});
process.on('disconnect', () => process.exit());

async function resize(id: number, bytes: Buffer, original: Size, wanted: WantedSize): Promise<Resized> {
  const startedAt = performance.now();
  try {
    return { id, bytes: await resizeScreenshot(bytes, original, wanted) };
  } catch (error) {
    return { id, error: (error as Error).message, isLate: isLate(performance.now() - startedAt) };
  }
}
