import type { MemberCapture } from './capture-session.ts';

/**
 * Closes the capture's record, then does what a visitor might do. No page that a landing navigates to meanwhile is
 * loaded.
 */
export async function probe({ open, visit, journal }: MemberCapture, act: () => Promise<void>): Promise<void> {
  visit.beginProbe(journal);
  // `aborted` and not `blocked`: Chromium then leaves the page as it is.
  await open.context.route('**/*', (route) => route.abort('aborted').catch(() => undefined));
  try {
    await act();
  } finally {
    await open.context.unroute('**/*');
  }
}
