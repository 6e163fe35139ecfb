import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type CapturedDocument, DOCUMENTS } from '@adsweep/shared/capture/artifact.ts';
import {
  DOCUMENTS_LENGTH_MAX,
  FRAMES_MAX,
  HTML_LENGTH_MAX,
  TEXT_LENGTH_MAX,
  TITLE_LENGTH_MAX,
  URL_LENGTH_MAX,
} from '../budgets.ts';
import type { CommandAnswer, TargetSession } from '../devtools/devtools.ts';
import { evaluateApart } from '../evaluate-apart.ts';
import type { Landing } from '../landings.ts';
import { type DocumentFacts, readDocument } from '../page-scripts/read-document.ts';
import type { Stage } from '../stage.ts';
import type { Collector } from './collector.ts';

type FrameTree = CommandAnswer<'Page.getFrameTree'>['frameTree'];
type FrameAt = { session: TargetSession; frameId: string };

/** What landings and their frames say: title, visible text, HTML as rendered. */
export const documents: Collector = {
  name: 'documents',
  budgetMs: 8_000,
  start: (stage) => async (draft) => {
    const kept: CapturedDocument[] = [];
    let room = DOCUMENTS_LENGTH_MAX;
    for (const landing of stage.landings.shown()) {
      for (const document of await documentsOf(stage, landing)) {
        const captured = draft.landings.find(({ ord }) => ord === landing.ord);
        if (captured && document.frame === '') {
          captured.page_title = document.title;
          captured.site_name = document.siteName;
        }
        room -= document.html.length + document.text.length;
        if (room < 0) break;
        const { siteName: _, ...rest } = document;
        kept.push(rest);
      }
    }
    if (kept.length === 0) return;
    const bytes = await promisify(gzip)(JSON.stringify(kept), { level: 3 });
    draft.files.push({ name: DOCUMENTS, contentType: 'application/gzip', bytes, width: 0, height: 0 });
  },
};

async function documentsOf(stage: Stage, { ord, tab }: Landing): Promise<(CapturedDocument & DocumentFacts)[]> {
  const frames = (await framesOf(stage, tab.session)).slice(0, FRAMES_MAX);
  const read = await Promise.all(frames.map((at) => readFrame(at)));
  return read.flatMap((facts, index) => {
    const { session, frameId } = frames[index] as FrameAt;
    const isOwn = session === tab.session && frameId === session.targetId;
    return facts ? [{ landing: ord, frame: isOwn ? '' : frameId, ...facts }] : [];
  });
}

/** The frames of a tab, its main one first, those of other sites by their own targets. */
async function framesOf(stage: Stage, root: TargetSession): Promise<FrameAt[]> {
  const sessions = [
    root,
    ...[...stage.devtools.sessions()].filter((one) => one.type === 'iframe' && isUnder(one, root)),
  ];
  const trees = await Promise.all(
    sessions.map(async (session) => {
      // A frame that is gone, or too busy to say what it holds, has no document to keep.
      const answer = await session.send('Page.getFrameTree', undefined, 2_000).catch(() => null);
      return answer ? frameIds(answer.frameTree).map((frameId) => ({ session, frameId })) : [];
    }),
  );
  return trees.flat();
}

const frameIds = ({ frame, childFrames = [] }: FrameTree): string[] => [frame.id, ...childFrames.flatMap(frameIds)];

function isUnder(session: TargetSession, root: TargetSession): boolean {
  for (let at: TargetSession | null = session; at; at = at.parent) if (at === root) return true;
  return false;
}

async function readFrame({ session, frameId }: FrameAt): Promise<DocumentFacts | null> {
  const limits = { html: HTML_LENGTH_MAX, text: TEXT_LENGTH_MAX, title: TITLE_LENGTH_MAX, url: URL_LENGTH_MAX };
  const facts = await evaluateApart(session, frameId, readDocument, limits, 3_000).catch(() => null);
  return facts && { ...facts, title: clean(facts.title), siteName: clean(facts.siteName) };
}

/** Text as it may be stored and shown: no lone surrogates, no control characters. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
