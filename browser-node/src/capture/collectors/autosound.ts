import { note } from '@adsweep/shared/capture/notes.ts';
import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { AUTOSOUND_CALLS } from '@adsweep/shared/capture/observations/interruption.ts';
import type { Page } from 'playwright-core';
import { COMMAND_MS, type CommandAnswer, rootOf, type TargetSession, targetWith } from '../devtools/devtools.ts';
import { isolatedWorldOf } from '../devtools/isolated-world.ts';
import { type AudibleMedia, readElement, readMedia } from '../page-scripts/sound.ts';
import { ANSWER_MS, ATTEMPTS_MAX, underLoad } from '../session/budgets.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { type FrameAt, readFrames } from '../session/frames.ts';
import type { Landing } from '../session/landings.ts';
import type { Collector } from './collector.ts';
import { loudness } from './loudness.ts';
import { soundingTargets } from './worklet-sound.ts';

type DomNode = CommandAnswer<'DOM.describeNode'>['node'];
const MEDIA = /^(audio|video)$/i;

/** An attempt to play sound, over all of its samples. `volume` is that of the loudest sample that was not muted. */
export type Attempt = ObservationOf<'autosound'>['facts'];
type FramedAttempt = { frameId: string | null; facts: Attempt };
type FramedMedia = { frameId: string; media: AudibleMedia };
/** The attempts of a tab by frame, then by their ids. */
type AttemptsByFrame = Map<string | null, Map<string, Attempt>>;

/** Attempts to play sound without a click, as reported by the page scripts: the loudest of each frame. */
export const autosound: Collector = {
  name: 'autosound',
  start(capture) {
    const byPage = new Map<Page, AttemptsByFrame>();
    capture.reports.on('sound', (page, [id, call, muted, volume, started, audio], frameId) => {
      const via = AUTOSOUND_CALLS.find((known) => known === call);
      if (!id || !via || !(Number(volume) >= 0)) return;
      const byFrame = byPage.get(page) ?? new Map<string | null, Map<string, Attempt>>();
      const attempts = byFrame.get(frameId) ?? new Map<string, Attempt>();
      byPage.set(page, byFrame.set(frameId, attempts));
      const moment = { via, muted: muted === 'true', volume: Number(volume), started: started === 'true' };
      keepLoudest(attempts, id, { ...moment, has_audio: audio === 'true' });
    });
    const playing = watchPlayers(capture);
    return async (draft) => {
      for (const landing of capture.landings.all) {
        if (isClickedMedia(capture, landing)) continue;
        const attempted = [...(byPage.get(landing.page) ?? [])].flatMap(([frameId, attempts]) =>
          [...attempts.values()].map((facts) => ({ frameId, facts })),
        );
        const reported = await withWorklets(capture, attempted, landing);
        const heard = new Set(reported.flatMap(({ frameId, facts }) => (isSound(facts) ? [frameId] : [])));
        const read = await audibleMedia(capture, landing, playing, heard);
        const at = { landing: landing.ord, url: landing.tab.url };
        for (const one of [...reported, ...read]) draft.observations.push({ kind: 'autosound', ...at, ...one });
      }
    };
  },
};

/**
 * The attempts, those by an audio worklet with the sound that it makes. The page scripts report one that reaches the
 * speakers as an attempt without sound, because only its own thread shows whether it makes some.
 */
async function withWorklets(
  { devtools }: CaptureSession,
  attempts: FramedAttempt[],
  { page, tab }: Landing,
): Promise<FramedAttempt[]> {
  const isWorklet = ({ facts: { via, volume, has_audio } }: FramedAttempt) =>
    via === 'audio_context' && volume > 0 && !has_audio;
  if (page.isClosed() || !attempts.some(isWorklet)) return attempts;
  const sounding = await soundingTargets(page);
  return attempts.map((one) => {
    if (!isWorklet(one)) return one;
    const target = targetWith(devtools, one.frameId) ?? tab.session.targetId;
    return { ...one, facts: { ...one.facts, has_audio: sounding.has(target) } };
  });
}

/**
 * Whether a click opened a bare media file: Chromium plays it because the visitor asked for it, in a document of its
 * own.
 */
function isClickedMedia({ landings, journal }: Pick<MemberCapture, 'landings' | 'journal'>, { tab }: Landing): boolean {
  const shown = journal.hopsOf(tab.session.targetId).at(-1);
  return landings.isClicked(tab) && /^\s*(audio|video)\//i.test(shown?.contentType ?? '');
}

/** The targets in which Chromium decoded sound, wherever their elements are. */
function watchPlayers({ devtools }: CaptureSession): ReadonlySet<TargetSession> {
  const playing = new Set<TargetSession>();
  devtools.onAttached((session) => {
    if (session.type === 'page' || session.type === 'iframe') session.notify('Media.enable');
  });
  devtools.on('Media.playerPropertiesChanged', ({ properties }, session) => {
    if (properties.some(({ name, value }) => name === 'kAudioTracks' && value.length > 2)) playing.add(session);
  });
  return playing;
}

/**
 * Audible media elements of a tab's documents, read from the DOM, but for the frames of which the page scripts reported
 * something audible (`heard`). In the targets that play sound, shadow roots are searched too, and what is in no
 * document.
 */
async function audibleMedia(
  capture: CaptureSession,
  { ord: landing, page, tab }: Landing,
  playing: ReadonlySet<TargetSession>,
  heard: ReadonlySet<string | null>,
): Promise<FramedAttempt[]> {
  if (page.isClosed() || !tab.committed) return [];
  const isUnheard = ({ frameId }: FrameAt) => !heard.has(frameId);
  const deadlineMs = underLoad(capture, ANSWER_MS);
  const reading = { script: readMedia, argument: { max: ATTEMPTS_MAX }, deadlineMs };
  const { read, unread } = await readFrames(capture, tab.session, reading, isUnheard);
  if (unread > 0) capture.notes.push(note('collector_frames', { landing, count: unread, collector: 'autosound' }));
  const inDocuments = read.flatMap(({ at, result }) => (result ?? []).map((media) => ({ frameId: at.frameId, media })));
  const targets = [...playing].filter((session) => rootOf(session) === tab.session);
  const hidden = inDocuments.length > 0 ? [] : await Promise.all(targets.map(hiddenMedia));
  const attempts = [...inDocuments, ...hidden.flat().filter(({ frameId }) => !heard.has(frameId))];
  return attempts.slice(0, ATTEMPTS_MAX).map(({ frameId, media: { autoplay, volume, started } }) => {
    const via = autoplay ? 'autoplay' : 'play';
    return { frameId, facts: { via, muted: false, volume, started, has_audio: true } };
  });
}

type MediaElement = { frameId: string; backendNodeId: number };

/**
 * The audible media elements of a target that no script reaches: those in closed shadow roots; if none is audible,
 * those in no document.
 */
async function hiddenMedia(session: TargetSession): Promise<FramedMedia[]> {
  const read = async ({ frameId, backendNodeId }: MediaElement) => {
    const executionContextId = await isolatedWorldOf(session, frameId, COMMAND_MS);
    const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId });
    const functionDeclaration = `function () { return (${readElement})(this); }`;
    const params = { objectId: object.objectId ?? '', functionDeclaration, returnByValue: true };
    const { result } = await session.send('Runtime.callFunctionOn', params);
    return { frameId, media: result.value as AudibleMedia | null };
  };
  const audibleOf = async (elements: MediaElement[]) => {
    // An element that was removed is silent.
    const media = await Promise.all(elements.slice(0, ATTEMPTS_MAX).map((one) => read(one).catch(() => null)));
    return media.flatMap((one) => (one?.media ? [{ frameId: one.frameId, media: one.media }] : []));
  };
  // A target that was closed is silent.
  const snapshot = await session.send('DOMSnapshot.captureSnapshot', { computedStyles: [] }).catch(() => null);
  const inShadowRoots = await audibleOf(mediaIn(snapshot));
  return inShadowRoots.length > 0 ? inShadowRoots : audibleOf(await detachedMedia(session).catch(() => []));
}

/**
 * The media elements of a target that are in no document and that its scripts keep; they are attributed to the target's
 * own frame.
 */
async function detachedMedia(session: TargetSession): Promise<MediaElement[]> {
  const { frameId } = session;
  if (frameId === null) return [];
  await session.send('DOM.enable');
  const { detachedNodes } = await session.send('DOM.getDetachedDomNodes');
  session.notify('DOM.disable');
  return detachedNodes.flatMap(({ treeNode }) =>
    mediaUnder(treeNode).map((backendNodeId) => ({ frameId, backendNodeId })),
  );
}

/** The backend ids of the media elements in a tree of nodes. Pure. */
function mediaUnder(root: DomNode): number[] {
  const found: number[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (MEDIA.test(node.nodeName)) found.push(node.backendNodeId);
    waiting.push(...(node.shadowRoots ?? []), ...(node.children ?? []));
  }
  return found;
}

/** The media elements of a snapshot, each with its frame. Pure. */
function mediaIn(snapshot: CommandAnswer<'DOMSnapshot.captureSnapshot'> | null) {
  const { documents = [], strings = [] } = snapshot ?? {};
  const isMedia = (name: number) => MEDIA.test(strings[name] ?? '');
  return documents.flatMap(({ frameId, nodes: { nodeName = [], backendNodeId = [] } }) =>
    nodeName.flatMap((name, index) =>
      isMedia(name) ? [{ frameId: strings[frameId] ?? '', backendNodeId: backendNodeId[index] as number }] : [],
    ),
  );
}

/**
 * Adds one sample of the attempt `id`. Beyond the limit a louder attempt replaces the quietest one. Pure except for
 * `attempts`.
 */
export function keepLoudest(attempts: Map<string, Attempt>, id: string, moment: Attempt): void {
  const known = attempts.get(id);
  if (!known && attempts.size >= ATTEMPTS_MAX) {
    const [quietestId, quietest] = [...attempts].reduce((a, b) => (loudness(b[1]) < loudness(a[1]) ? b : a));
    if (loudness(quietest) >= loudness(moment)) return;
    attempts.delete(quietestId);
  }
  attempts.set(id, known ? joined(known, moment) : moment);
}

function joined(a: Attempt, b: Attempt): Attempt {
  const audible = [a, b].filter(({ muted }) => !muted);
  return {
    via: a.via,
    muted: audible.length === 0,
    volume: Math.max(...(audible.length > 0 ? audible : [a, b]).map(({ volume }) => volume)),
    started: a.started || b.started,
    has_audio: a.has_audio || b.has_audio,
  };
}

const isSound = ({ muted, volume, has_audio }: Attempt): boolean => !muted && volume > 0 && has_audio;
