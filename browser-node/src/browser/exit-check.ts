import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import type { BrowserContext } from 'playwright-core';

/** A browser's traffic does not leave by the gateway with its ticket, so that nothing may be scanned in it. */
export class ExitCheckError extends Error {
  constructor(what: string) {
    super(
      `the traffic of the remote browser does not leave by the gateway with a ticket: its exit check ended with ${what}`,
    );
  }
}

const DEADLINE_MS = 10_000;

/**
 * A name longer than any host's (RFC 1035, 2.3.4): the gateway answers it itself, asks no exit for it and writes
 * nothing down.
 */
const UNRESOLVABLE = `http://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(12)}/`;

/**
 * Checks that a context's traffic leaves by the gateway, with the context's ticket: only the gateway answers this name,
 * and only to a valid ticket. Throws ExitCheckError with what happened instead.
 */
export async function checkExit(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const answers: { status: number; headers: Record<string, string> }[] = [];
  session.on('Network.responseReceived', ({ response }) => answers.push(response));
  await session.send('Network.enable');
  const failure = await page.goto(UNRESOLVABLE, { timeout: DEADLINE_MS, waitUntil: 'commit' }).then(
    () => null,
    (error: Error) => error,
  );
  if (failure) throw new ExitCheckError(/net::\w+/.exec(failure.message)?.[0] ?? failure.name);
  const [answer] = answers;
  if (new Headers(answer?.headers).get(GATEWAY_OUTCOME_HEADER) !== 'dns')
    throw new ExitCheckError(`an answer ${answer?.status ?? 'without status'}`);
}
