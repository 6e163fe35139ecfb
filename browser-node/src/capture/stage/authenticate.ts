import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';

/** A name longer than any host can have (RFC 1035 2.3.4): the gateway asks for credentials, refuses it and records nothing. */
const REFUSED_URL = `http://${'nobody.'.repeat(40)}invalid/`;

/**
 * Makes a context known to the gateway by a page load that reaches nobody. Without it, pictures that a page of ours asks for are lost:
 * Chromium answers the proxy's question for requests of a page only once it has answered it for a document from the network. Never throws.
 */
export async function authenticate({ context }: OpenContext): Promise<void> {
  const load = async () => {
    const page = await context.newPage();
    // The gateway's refusal is what is wanted. Chromium may never close a page whose document is still on its way.
    await page.goto(REFUSED_URL, { waitUntil: 'load', timeout: COMMAND_MS }).catch(() => undefined);
    await page.close();
  };
  await withDeadline(load(), 2 * COMMAND_MS, 'the first answer of the gateway').catch(() => undefined);
}
