import type { Page } from 'playwright-core';
import { COMMAND_MS } from '../devtools/devtools.ts';
import type { NetworkJournal } from '../session/network-journal.ts';

/** A name longer than any host can have (RFC 1035 2.3.4): the gateway asks who calls, refuses it and writes nothing down. */
const REFUSED_URL = `http://${'nobody.'.repeat(40)}invalid/`;

/**
 * Makes a context known to the gateway by a page load that reaches nobody. Without it, pictures that a page of ours asks for are lost:
 * Chromium does not answer the proxy's question for requests of other origins before it has answered one for a page.
 */
export async function authenticate(page: Page, journal: NetworkJournal): Promise<void> {
  journal.stopped(REFUSED_URL);
  // The gateway's refusal is what is wanted.
  await page.goto(REFUSED_URL, { waitUntil: 'commit', timeout: COMMAND_MS }).catch(() => undefined);
}
