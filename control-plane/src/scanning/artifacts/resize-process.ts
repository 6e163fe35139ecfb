import sharp from 'sharp';
import { resizeScreenshot, type Size, type WantedSize } from './resize-screenshot.ts';

/**
 * A process that resizes pictures and does nothing else: pictures come from hostile pages and cost seconds of CPU, and sharp takes the
 * threads that files and archives need too. It ends with the process that started it.
 */
export type ResizeRequest = { id: number; bytes: Uint8Array; original: Size; wanted: WantedSize };
/** `isLate`: the time for one picture was over. */
export type Resized = { id: number; bytes: Uint8Array } | { id: number; error: string; isLate: boolean };

/** How libvips begins the message of a timeout. */
const TIMEOUT = /^timeout/;

sharp.concurrency(1);
sharp.cache(false);

process.on('message', async ({ id, bytes, original, wanted }: ResizeRequest) => {
  process.send?.(await resize(id, Buffer.from(bytes), original, wanted));
});
process.on('disconnect', () => process.exit());

async function resize(id: number, bytes: Buffer, original: Size, wanted: WantedSize): Promise<Resized> {
  try {
    return { id, bytes: await resizeScreenshot(bytes, original, wanted) };
  } catch (error) {
    const { message } = error as Error;
    return { id, error: message, isLate: TIMEOUT.test(message) };
  }
}
