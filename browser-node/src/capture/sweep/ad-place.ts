import { setTimeout } from 'node:timers/promises';
import type { Box } from '../box.ts';
import { COMMAND_MS, type TargetSession } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld, isolatedWorldOf } from '../devtools/isolated-world.ts';
import { pageStart } from '../devtools/page-start.ts';
import type { FoundAd, PageElement } from '../discovery/found-ad.ts';
import { pathOf } from '../harness/choose-creative.ts';
import { type MeasuredFrame, measureFrames } from '../harness/measure-frames.ts';
import { type Hidden, hideCovers, hideElement, showHidden } from '../page-scripts/hide-covers.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { FrameAt } from '../session/frames.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import type { Point } from '../session/visitor-click.ts';

/** Chromium drops clicks into frames of other processes for half a second after a scroll or a screenshot. */
const DRAWN_MS = 800;
/** Elements over an ad that are hidden at most. */
const COVERS_MAX = 10;

/**
 * Scrolls an ad into view. Resolves to its box in the viewport, in CSS pixels, or null: it is not there any more, or
 * its page does not answer.
 */
export async function bringIntoView(session: CaptureSession, ad: FoundAd): Promise<Box | null> {
  const { element } = ad;
  if (!element) return null;
  const deadlineMs = underLoad(session, ANSWER_MS);
  try {
    const { backendNodeId } = element;
    await element.session.send('DOM.scrollIntoViewIfNeeded', { backendNodeId }, deadlineMs);
    await session.ending.race(drawn(session, ad));
    return await boxInView(element, deadlineMs);
  } catch (cause) {
    session.logger.info({ cause }, 'an ad could not be brought into view');
    return null;
  }
}

/** Resolves when the page, and then the frame that shows the ad, have drawn what they show now, or after a while. */
export async function drawn(session: CaptureSession, { element, frameIds, tab }: FoundAd): Promise<void> {
  const deadlineMs = underLoad(session, ANSWER_MS);
  const page = tab.tab.session;
  const around = element?.session ?? page;
  const frameId = frameIds[0] ?? around.targetId;
  // A frame of another process has a session of its own.
  const own = [...session.devtools.sessions()].find(({ targetId }) => targetId === frameId) ?? around;
  const mostMs = underLoad(session, DRAWN_MS);
  const draw = (target: TargetSession, frame: string) =>
    evaluateInIsolatedWorld(target, frame, awaitFrames, mostMs, deadlineMs).catch(() => setTimeout(mostMs));
  await draw(page, page.targetId);
  if (frameId !== page.targetId) await draw(own, frameId);
}

/** Runs in a frame, in an isolated world. */
function awaitFrames(mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
    globalThis.setTimeout(resolve, mostMs);
  });
}

/**
 * What is in view of a page, in CSS pixels from its left edge, as screenshots count; `start`: as of {@link pageStart}.
 */
export type View = Box & { start: { x: number; y: number } };

/**
 * What a tab shows of its page. It is larger than the device's screen where a page that is not made for phones is shown
 * smaller on one. Null: the page does not answer.
 */
export async function viewOf(session: CaptureSession, { tab }: OpenTab): Promise<View | null> {
  // Without it, an ad that was found is neither pictured nor clicked: a page that is busy for a moment is waited for.
  const reading = tab.session.send('Page.getLayoutMetrics', undefined, underLoad(session, COMMAND_MS));
  const metrics = await reading.catch(() => null);
  if (!metrics) return null;
  const { pageX, pageY, clientWidth: width, clientHeight: height } = metrics.cssVisualViewport;
  const start = pageStart(metrics);
  return { x: start.x + pageX, y: start.y + pageY, width, height, start };
}

/** The box of an element in the viewport of its tab, in CSS pixels. Rejects when it is not laid out. */
export async function boxInView({ session, backendNodeId }: PageElement, deadlineMs: number): Promise<Box> {
  const { model } = await session.send('DOM.getBoxModel', { backendNodeId }, deadlineMs);
  const box = boxOf(model.border);
  // The boxes of a process are relative to its outermost frame.
  for (let at = session; at.parent; at = at.parent) {
    const owner = await at.parent.send('DOM.getFrameOwner', { frameId: at.targetId }, deadlineMs);
    const outer = await at.parent.send('DOM.getBoxModel', { backendNodeId: owner.backendNodeId }, deadlineMs);
    const { x, y } = boxOf(outer.model.content);
    box.x += x;
    box.y += y;
  }
  return box;
}

/** The box of a quad: eight numbers, clockwise from the top left. */
function boxOf(quad: readonly number[]): Box {
  const [xs, ys] = [0, 1].map((axis) => quad.filter((_, index) => index % 2 === axis)) as [number[], number[]];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

/** The frames that show an ad and those around them, with their places in the viewport. */
export const framesOfAd = (session: CaptureSession, ad: FoundAd): Promise<MeasuredFrame[]> =>
  measureFrames(session, ad.tab.tab.session, { select: (frames) => relatedFrames(frames, ad), in: 'viewport' });

/** The frames of an ad with those inside and around them; of an ad without frames, those around its element. Pure. */
function relatedFrames(frames: FrameAt[], { frameIds, element, tab }: FoundAd): FrameAt[] {
  const parentOf = new Map(frames.map(({ frameId, parentId }) => [frameId, parentId]));
  const ancestors = (frameId: string) => {
    const found: string[] = [];
    for (let at = parentOf.get(frameId) ?? null; at; at = parentOf.get(at) ?? null) found.push(at);
    return found;
  };
  const own = new Set(frameIds);
  const around = new Set([tab.tab.session.targetId, element?.session.targetId ?? '', ...frameIds.flatMap(ancestors)]);
  return frames.filter(
    ({ frameId }) => own.has(frameId) || around.has(frameId) || ancestors(frameId).some((outer) => own.has(outer)),
  );
}

/**
 * Hides what lies over an ad at a point of the viewport, so that a click there reaches the ad, and a picture shows it: in the page's own document, and
 * in those of frames of the page that the ad's frames are in. `frames`: of the ad and around it, as measured; `box`: where the ad is in the viewport,
 * by which it is known where its slot has refreshed. Resolves to whether anything lies over it. Never throws.
 */
export async function uncover(
  session: CaptureSession,
  ad: FoundAd,
  frames: readonly MeasuredFrame[],
  point: Point,
  box: Box,
): Promise<boolean> {
  if (!ad.inPage) return false;
  const { targetId } = ad.inPage.session;
  const covered = { ...point, box, most: COVERS_MAX };
  let hidden = (await callOn(session, ad.inPage, targetId, hideCovers, covered)) ?? 0;
  for (const [outer, inner] of framesInside(ad, frames)) {
    const element = await ownerOf(inner, underLoad(session, ANSWER_MS)).catch(() => null);
    if (!element || !outer.box) continue;
    const { x, y } = outer.box;
    const inFrame = (at: Point) => ({ x: (at.x - x) / outer.scale, y: (at.y - y) / outer.scale });
    const [width, height] = [box.width / outer.scale, box.height / outer.scale];
    const own = { ...inFrame(point), box: { ...inFrame(box), width, height }, most: COVERS_MAX };
    hidden += (await callOn(session, element, outer.frameId, hideCovers, own)) ?? 0;
  }
  return hidden > 0;
}

/** The frames of the page that the outermost frame of an ad is in, each with the frame in it that shows the ad. Pure. */
function framesInside({ frameIds }: FoundAd, frames: readonly MeasuredFrame[]): [MeasuredFrame, MeasuredFrame][] {
  const path = pathOf(frames, frameIds[0] ?? '') as MeasuredFrame[];
  return path.slice(1, -1).map((outer, index) => [outer, path[index] as MeasuredFrame]);
}

/** The element that shows a frame, in the document around it. Rejects when the frame is gone. */
export async function ownerOf({ at: { session, frameId } }: MeasuredFrame, deadlineMs: number): Promise<PageElement> {
  // A frame of another process has a session of its own.
  const around = session.targetId === frameId && session.parent ? session.parent : session;
  const { backendNodeId } = await around.send('DOM.getFrameOwner', { frameId }, deadlineMs);
  return { session: around, backendNodeId };
}

/** Hides an element of a page's own document that covers it. Never throws. */
export async function hideOverlay(session: CaptureSession, overlay: PageElement): Promise<void> {
  await callOn(session, overlay, overlay.session.targetId, hideElement, {});
}

/** Shows again in a tab what {@link uncover} hid for an ad (`shown`), or with `overlays` {@link hideOverlay}. Never throws. */
export async function showAgain(
  session: CaptureSession,
  { tab }: OpenTab,
  kind: Hidden,
  shown?: { ad: FoundAd; frames: readonly MeasuredFrame[] },
): Promise<void> {
  const around = shown ? framesInside(shown.ad, shown.frames).map(([outer]) => outer.at) : [];
  const deadlineMs = underLoad(session, ANSWER_MS);
  const show = ({ session: target, frameId }: Pick<FrameAt, 'session' | 'frameId'>) =>
    evaluateInIsolatedWorld(target, frameId, showHidden, kind, deadlineMs).catch((cause) =>
      session.logger.info({ cause }, NOT_CHANGED),
    );
  await Promise.all([{ session: tab.session, frameId: tab.session.targetId }, ...around].map(show));
}

const NOT_CHANGED = 'what lies over an ad could not be changed';

/** The result of a function in a frame, in an isolated world, with an element of its document in its argument; undefined: it could not run. */
async function callOn<Argument, Result>(
  session: CaptureSession,
  { session: target, backendNodeId }: PageElement,
  frameId: string,
  script: (argument: Argument & { element: Element }) => Result,
  argument: Argument,
): Promise<Result | undefined> {
  const deadlineMs = underLoad(session, ANSWER_MS);
  try {
    const executionContextId = await isolatedWorldOf(target, frameId, deadlineMs);
    const { object } = await target.send('DOM.resolveNode', { backendNodeId, executionContextId }, deadlineMs);
    const call = {
      objectId: object.objectId ?? '',
      functionDeclaration: `function (argument) { return (${script})({ ...argument, element: this }); }`,
      arguments: [{ value: argument }],
      returnByValue: true,
    };
    const { result } = await target.send('Runtime.callFunctionOn', call, deadlineMs);
    return result.value as Result;
  } catch (cause) {
    session.logger.info({ cause }, NOT_CHANGED);
    return undefined;
  }
}
