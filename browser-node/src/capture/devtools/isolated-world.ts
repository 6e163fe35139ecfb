import type { TargetSession } from './devtools.ts';

/**
 * Runs `script` in a frame, in a world apart: it sees the page's DOM but none of what the page did to JavaScript, and it grants the page
 * no user activation, which Playwright's evaluate does. `script` must stand alone; argument and result travel as JSON.
 */
export async function evaluateInIsolatedWorld<Argument, Result>(
  session: TargetSession,
  frameId: string,
  script: (argument: Argument) => Result,
  argument: Argument,
  deadlineMs: number,
): Promise<Awaited<Result>> {
  const world = await session.send('Page.createIsolatedWorld', { frameId }, deadlineMs);
  const { result, exceptionDetails } = await session.send(
    'Runtime.evaluate',
    {
      expression: `(${script})(${JSON.stringify(argument)})`,
      contextId: world.executionContextId,
      returnByValue: true,
      awaitPromise: true,
    },
    deadlineMs,
  );
  if (exceptionDetails) throw new Error(`${script.name}: ${exceptionDetails.exception?.description ?? 'it threw'}`);
  return result.value as Awaited<Result>;
}
