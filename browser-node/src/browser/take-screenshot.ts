import type { DeviceSessions } from './device-sessions.ts';
import type { ScreenshotPart } from './open-context.ts';
import type { OwnCommands } from './own-commands.ts';

/**
 * A JPEG screenshot of a part of a tab. It is taken in the session that emulates the device, the only one that captures
 * the device's pixels, but not by Playwright, which first evaluates 340 KB of script in two worlds of every frame,
 * including the page's own, and grants the page user activation. Rejects when the tab is closed or does not respond in
 * time.
 */
export async function takeScreenshot(
  own: Pick<OwnCommands, 'command'>,
  sessions: Pick<DeviceSessions, 'emulating'>,
  targetId: string,
  { clip, beyondView, quality }: ScreenshotPart,
  deadlineMs: number,
): Promise<Buffer> {
  const tab = sessions.emulating(targetId);
  if (!tab) throw new Error('the tab of the screenshot is closed');
  const { sessionId, maxTouchPoints } = tab;
  const params = { format: 'jpeg', quality, clip: { ...clip, scale: 1 }, captureBeyondViewport: beyondView };
  const { data } = await own.command('Page.captureScreenshot', params, deadlineMs, sessionId);
  // Chromium loses the touch emulation when it captures more than the viewport.
  if (beyondView && maxTouchPoints > 0)
    await own.command('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints }, deadlineMs, sessionId);
  return Buffer.from(String(data), 'base64');
}
