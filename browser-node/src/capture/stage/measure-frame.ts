import type { TargetSession } from '../devtools/devtools.ts';
import { evaluateInWorld, isolatedWorldOf } from '../devtools/isolated-world.ts';
import { type Measured, measureVisuals } from '../page-scripts/measure-visuals.ts';

const LIMITS = { elements: 20_000, visuals: 2_000, hosts: 50 };
/** Closed shadow roots of a frame that are entered at most, those in others included. */
const CLOSED_ROOTS_MAX = 20;

/** What a frame shows, and the isolated world in which it was measured, which knows the closed shadow roots that were found. */
export type MeasuredInWorld = Measured & { world: number };

/** What a frame shows by itself, closed shadow roots included. Rejects when it is gone or does not answer in time. */
export async function measureFrame(
  session: TargetSession,
  frameId: string,
  deadlineMs: number,
): Promise<MeasuredInWorld> {
  const world = await isolatedWorldOf(session, frameId, deadlineMs);
  const measured = await evaluateInWorld(session, world, measureVisuals, LIMITS, deadlineMs);
  if (measured.emptyHosts === 0) return { ...measured, world };
  const visuals = [...measured.visuals];
  const roots = await closedRoots(session, world, deadlineMs);
  for (let at = 0; at < Math.min(roots.length, CLOSED_ROOTS_MAX); at += 1) {
    const inside = await measureRoot(session, world, roots[at]!, deadlineMs);
    visuals.push(...inside.visuals.slice(0, LIMITS.visuals - visuals.length));
    if (inside.emptyHosts > 0) roots.push(...(await closedRoots(session, world, deadlineMs)));
  }
  return { ...measured, visuals, world };
}

/** The closed shadow roots of what {@link measureVisuals} left in `emptyHosts`: no script of a page or world can reach them, CDP can. */
async function closedRoots(session: TargetSession, world: number, deadlineMs: number): Promise<number[]> {
  const list = await session.send('Runtime.evaluate', { expression: 'emptyHosts', contextId: world }, deadlineMs);
  const { result: properties } = await session.send(
    'Runtime.getProperties',
    { objectId: list.result.objectId ?? '', ownProperties: true },
    deadlineMs,
  );
  const hosts = properties.flatMap(({ value }) => (value?.subtype === 'node' ? [value.objectId ?? ''] : []));
  const nodes = await Promise.all(
    // What was removed meanwhile shows nothing.
    hosts.map((objectId) => session.send('DOM.describeNode', { objectId }, deadlineMs).catch(() => null)),
  );
  return nodes.flatMap((described) =>
    (described?.node.shadowRoots ?? [])
      .filter(({ shadowRootType }) => shadowRootType === 'closed')
      .map(({ backendNodeId }) => backendNodeId),
  );
}

/** What a closed shadow root shows. */
async function measureRoot(
  session: TargetSession,
  world: number,
  backendNodeId: number,
  deadlineMs: number,
): Promise<Measured> {
  const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId: world }, deadlineMs);
  const { result } = await session.send(
    'Runtime.callFunctionOn',
    {
      objectId: object.objectId ?? '',
      functionDeclaration: `function (limits) { return (${measureVisuals})(limits, this); }`,
      arguments: [{ value: LIMITS }],
      returnByValue: true,
    },
    deadlineMs,
  );
  return result.value as Measured;
}
